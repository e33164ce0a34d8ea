import { expect, test } from "vitest";
import { fileNameOf } from "./result-files.ts";

test("a file is saved under a name that stays in its folder", () => {
  const names: Record<string, string> = {
    "film.mp4": "film.mp4",
    "../../etc/passwd": "passwd",
    "..\\..\\boot.ini": "boot.ini",
    "/abs/path/a b.txt": "a b.txt",
    "..": "artifact",
    ".bashrc": "bashrc",
    "": "artifact",
    "a/": "artifact",
    "evil\u001b[2J\u202egnp.exe": "evil[2Jgnp.exe",
    'con<>:"|?*.txt': "con_______.txt",
    [`${"x".repeat(500)}.png`]: `${"x".repeat(116)}.png`,
  };
  for (const [name, saved] of Object.entries(names)) expect(fileNameOf(name), name).toBe(saved);
});
