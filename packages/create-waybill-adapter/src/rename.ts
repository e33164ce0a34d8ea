const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/**
 * Whether a framework's name is valid. It becomes part of file names, the package's name and class
 * names.
 */
export function isFrameworkName(name: string): boolean {
  return NAME.test(name) && name.length <= 40;
}

export function packageNameOf(name: string): string {
  return `waybill-adapter-${name}`;
}

const CODE = /(^```ts\n[\s\S]*?^```$)/m;

/** A page of the template: outside its code, echo is the framework's name and no identifier. */
export function renamedPage(page: string, name: string): string {
  const parts = page.split(CODE).map((part) => (CODE.test(part) ? part : inProse(part, name)));
  return renamed(parts.join(""), name);
}

function inProse(text: string, name: string): string {
  return text.replaceAll(/(?<![a-zA-Z@/-])echo\b/g, name);
}

/** A text of the template, with the framework's name in place of echo. */
export function renamed(text: string, name: string): string {
  const words = name.split("-");
  const pascal = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
  const camel = pascal[0]!.toLowerCase() + pascal.slice(1);
  return (
    text
      .replaceAll("@waybill/adapter-echo", packageNameOf(name))
      .replaceAll("Echo", pascal)
      // Part of a path, a file name or a quoted name; anywhere else it is an identifier.
      .replaceAll(/(?<=["'/-])echo/g, name)
      .replaceAll("echo", camel)
  );
}
