// How the README of a package begins: its install command, and the first code.
const INSTALLS = /^(?:npm|pip) install\b/;

/** The commands of a shell block, each in one line. */
function commandsIn(block) {
  return block
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter(Boolean);
}

const blocksIn = (markdown) => [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
const installsIn = ([, , text]) => commandsIn(text).filter((each) => INSTALLS.test(each));
const isInstalling = (block) => block[1] === "sh" && installsIn(block).length > 0;

/**
 * Every block that installs, with the first code below it.
 * @param {string} markdown
 * @param {string} language
 */
export function installationsOf(markdown, language) {
  const blocks = blocksIn(markdown);
  return blocks.filter(isInstalling).map((block) => {
    const after = blocks.slice(blocks.indexOf(block) + 1);
    const [, kind, code] = after.find((each) => each[1] === language || isInstalling(each)) ?? [];
    if (kind !== language) throw new Error(`No code follows ${installsIn(block).join(" and ")}.`);
    return { install: installsIn(block), code };
  });
}

/**
 * The install commands, the first code, and its documented output.
 * @param {string} markdown
 * @param {string} language
 */
export function beginningOf(markdown, language) {
  const blocks = blocksIn(markdown);
  const installing = blocks.findIndex(isInstalling);
  if (installing === -1) throw new Error("It does not say how it is installed.");
  const showing = blocks.findIndex(([, kind]) => kind === language);
  if (showing !== -1 && showing < installing)
    throw new Error("Its first code stands before the line that installs what the code needs.");
  const install = installsIn(blocks[installing]);
  if (showing === -1) return { install };
  const [whole, , code] = blocks[showing];
  const after = markdown.slice(blocks[showing].index + whole.length);
  const says = /^\s*(?:<!-- \/example -->\s*)?```text\n([\s\S]*?)^```$/m.exec(after);
  return { install, code, ...(says?.index === 0 ? { says: says[1] } : {}) };
}
