import { answeredTo, PERMISSIONS, ROLES } from "./permissions-fixture.ts";
import type { Answered, Permission, Role } from "./permissions-fixture.ts";

const INTRODUCTION = `# Who may do what

This page is generated from the table in \`src/authorization/permissions-fixture.ts\` by the test beside it, which tries every cell against a served hub. To change it, change that table and run the test with \`-u\`.

Each row is about one handoff that has a parent and a child. A refusal changes nothing, and its status and message are the same as for a handoff that does not exist.`;

const MEANINGS: readonly (readonly [string, string])[] = [
  ["✔", "allowed"],
  ["own", "allowed, but it shows or changes nothing of this handoff"],
  ["410", "too late: it is recorded, and changes nothing"],
  ["taken", "403: the id belongs to another handoff; nothing else about it is revealed"],
  ["401", "the proof is invalid, whatever the request"],
  ["403, 404", "refused"],
];

/** The table as a page. */
export function permissionsPage(): string {
  const groups = Object.entries(PERMISSIONS).map(([name, rows]) => {
    const permissions: Permission[] = Object.values(rows);
    return `## ${name}\n\n${tableOf(permissions)}`;
  });
  return `${[INTRODUCTION, "## Roles", rolesTable(), "## Answers", meanings(), ...groups].join("\n\n")}\n`;
}

function rolesTable(): string {
  return table([
    ["Role", "Who it is"],
    ...Object.entries(ROLES).map(([role, who]) => [title(role), who]),
  ]);
}

function meanings(): string {
  return table([["Answer", "Meaning"], ...MEANINGS.map((each) => [...each])]);
}

/** Roles whose answers differ somewhere have a column of their own; the legend lists the others. */
function tableOf(permissions: readonly Permission[]): string {
  const roles = Object.keys(ROLES) as Role[];
  return table([
    ["", ...roles.map(title)],
    ...permissions.map((permission) => [
      permission.what,
      ...roles.map((role) => textOf(answeredTo(role, permission))),
    ]),
  ]);
}

function textOf(answered: Answered): string {
  if (answered === "yes") return "✔";
  return answered === "late" ? "410" : String(answered);
}

function title(role: string): string {
  return role.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Aligned as by the formatter. */
function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]!.length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
