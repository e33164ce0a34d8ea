// Follows a guide to the letter: runs its commands, and writes its files.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const BLOCK = /^```(\w+)\n([\s\S]*?)^```$/gm;
const FILE = /^\/\/ (\S+)\n/;

/**
 * The steps of a guide: every `sh` block is a sequence of commands, and a `ts` block that begins with
 * a path in a comment is that file.
 */
export function stepsOf(markdown) {
  return [...markdown.matchAll(BLOCK)].flatMap(([, language, text]) => {
    if (language === "sh") {
      return text
        .trim()
        .split("\n")
        .map((command) => ({ command }));
    }
    const file = FILE.exec(text)?.[1];
    return file === undefined ? [] : [{ file, content: text.replace(FILE, "") }];
  });
}

/** Takes the steps in a folder. Returns the output of the commands, or throws it with their failure. */
export function follow(steps, { cwd, env }) {
  let folder = cwd;
  const said = [];
  for (const { command, file, content } of steps) {
    if (file !== undefined) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), content);
    } else if (command.startsWith("cd ")) folder = join(folder, command.slice("cd ".length));
    else {
      try {
        said.push(
          execFileSync("sh", ["-c", command], {
            cwd: folder,
            env,
            encoding: "utf8",
            stdio: "pipe",
          }),
        );
      } catch (error) {
        throw new Error(`\`${command}\` failed:\n${error.stdout}\n${error.stderr}`, {
          cause: error,
        });
      }
    }
  }
  return said.join("\n");
}
