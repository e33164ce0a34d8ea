// How the README of a package begins: what is typed to install it, and the first code that it shows.
const INSTALLS = /^(?:npm|pip) install\b/;

/** The commands of a shell block, each in one line. */
function commandsIn(block) {
  return block
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter(Boolean);
}

/**
 * The commands that install, the first code, and what the page says that it prints.
 * @param {string} markdown
 * @param {string} language
 */
export function beginningOf(markdown, language) {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  const installing = blocks.findIndex(
    ([, kind, text]) => kind === "sh" && commandsIn(text).some((each) => INSTALLS.test(each)),
  );
  if (installing === -1) throw new Error("It does not say how it is installed.");
  const showing = blocks.findIndex(([, kind]) => kind === language);
  if (showing !== -1 && showing < installing)
    throw new Error("Its first code stands before the line that installs what the code needs.");
  const install = commandsIn(blocks[installing][2]).filter((each) => INSTALLS.test(each));
  if (showing === -1) return { install };
  const [whole, , code] = blocks[showing];
  const after = markdown.slice(blocks[showing].index + whole.length);
  const says = /^\s*(?:<!-- \/example -->\s*)?```text\n([\s\S]*?)^```$/m.exec(after);
  return { install, code, ...(says?.index === 0 ? { says: says[1] } : {}) };
}
