import { Json, Text } from "./text.tsx";

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema | boolean>>;
  readonly required?: readonly string[];
  readonly items?: Schema | boolean;
}

/** The schema of an object as a table of its members; any other schema as JSON. */
export function SchemaTable({
  title,
  schema,
}: {
  readonly title: string;
  readonly schema: unknown;
}) {
  if (schema === undefined) return null;
  const { properties, required = [] } = (typeof schema === "object" ? schema : {}) as Schema;
  const rows = Object.entries(properties ?? {});
  return (
    <>
      <h3>{title}</h3>
      {rows.length === 0 ? (
        <Json label={`${title} schema`} value={schema} />
      ) : (
        <div class="scrolled" tabIndex={0} role="region" aria-label={`${title} schema`}>
          <table>
            <thead>
              <tr>
                <th>Member</th>
                <th>Type</th>
                <th>Required</th>
                <th>Description</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(([name, member]) => {
                const shape = typeof member === "object" ? member : {};
                return (
                  <tr key={name}>
                    <td>
                      <code>
                        <Text value={name} />
                      </code>
                    </td>
                    <td>
                      <Text value={typeText(shape)} />
                    </td>
                    <td>{required.includes(name) ? "yes" : "no"}</td>
                    <td>
                      <Text value={shape.description ?? ""} />
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > 0 && (
        <details>
          <summary>{title} schema as JSON</summary>
          <Json label={`${title} schema as JSON`} value={schema} />
        </details>
      )}
    </>
  );
}

function typeText({ type, enum: values, items }: Schema): string {
  if (values !== undefined) return values.map((each) => JSON.stringify(each)).join(" | ");
  const own = type === undefined ? "any" : [type].flat().join(" | ");
  return typeof items === "object" ? `${own} of ${typeText(items)}` : own;
}
