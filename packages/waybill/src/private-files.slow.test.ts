/// <reference types="node" />
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";

let place: Workplace;
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place.close());

function modeOf(path: string): string {
  return (lstatSync(path).mode & 0o777).toString(8);
}

/** Everything below a folder that others may access, with its mode. */
function open(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).map((each) => {
    const path = join(each.parentPath, each.name);
    return [path, modeOf(path), each.isDirectory() ? "700" : "600"] as const;
  });
  return Object.fromEntries(
    found.filter(([, mode, right]) => mode !== right).map(([path, mode]) => [path, mode]),
  );
}

describe.skipIf(process.platform === "win32")("files that the command writes (POSIX)", () => {
  test.each(["0000", "0022", "0777"])(
    "are private to their owner under a umask of %s, in a shared folder",
    async (umask) => {
      chmodSync(place.folder, 0o777);
      place.umask = umask;
      writeFileSync(place.path("film.mp4"), "f".repeat(200_000), { mode: 0o600 });
      const dev = await startDev(place);
      await place.runAll([
        ["send", "work", "--file", "film.mp4", "--timeout", "1s"],
        ["send", "work", "--agent", "anna", "--key", "anna.key"],
        ["keys", "new", "bert.key"],
        ["backup", "deep/er/one.db"],
        ["agents"],
      ]);
      const here = readdirSync(place.path(".waybill"));
      for (const name of [
        "hub.db",
        "hub.db-wal",
        "hub.db-shm",
        "hub.db-owner",
        "hub.url",
        "hub.sock",
      ]) {
        expect(here).toContain(name);
      }
      for (const folder of [".waybill/hub.db-blobs", "deep/er/one.db-blobs"]) {
        expect(readdirSync(place.path(folder))).toHaveLength(1);
      }
      expect(open(place.folder)).toEqual({});
      await dev.stop();
      const restored = await place.run(["restore", "deep/er/one.db", "--replace"]);
      expect(restored.code, restored.stderr).toBe(0);
      expect(readdirSync(place.path(".waybill")).join()).toContain("hub.db.before-");
      expect(open(place.folder)).toEqual({});
      const elsewhere = await place.run(["restore", "deep/er/one.db", "--database", "a/b/hub.db"]);
      expect(elsewhere.code, elsewhere.stderr).toBe(0);
      await (await startDev(place)).stop();
      expect(open(place.folder)).toEqual({});
    },
  );

  test("are not written through links", async () => {
    const elsewhere = place.path("elsewhere");
    const data = place.path(".waybill");
    writeFileSync(elsewhere, "as it was", { mode: 0o644 });
    mkdirSync(data, { mode: 0o700 });
    for (const name of ["hub.url", "operator.token", "hub.url.part", "operator.token.part"]) {
      symlinkSync(elsewhere, join(data, name));
    }
    const dev = await startDev(place);
    expect(readFileSync(elsewhere, "utf8")).toBe("as it was");
    expect(modeOf(elsewhere)).toBe("644");
    expect(lstatSync(join(data, "hub.url")).isFile()).toBe(true);
    expect(readFileSync(join(data, "hub.url"), "utf8")).toBe(`${dev.url}\n`);
    expect(readFileSync(join(data, "operator.token"), "utf8")).toBe(`${dev.operator_token}\n`);
    symlinkSync(elsewhere, join(data, "operator.seat"));
    expect((await place.run(["send", "work", "--timeout", "1s"])).code).not.toBe(7);
    expect(readFileSync(elsewhere, "utf8")).toBe("as it was");
    await dev.stop();
  });

  test("are not read through links", async () => {
    const dev = await startDev(place);
    const url = place.path(".waybill", "hub.url");
    const target = place.path("target");
    renameSync(url, target);
    symlinkSync(target, url);
    const asked = await place.run(["agents"]);
    expect(asked.code).toBe(3);
    expect(asked.stderr).toContain("is a symbolic link");
    await dev.stop();
  });

  test("are closed to others, with a warning, at the next start", async () => {
    await (await startDev(place)).stop();
    const database = place.path(".waybill", "hub.db");
    chmodSync(database, 0o644);
    const running = place.start(["dev", "--port", "0"]);
    running.child.stdin!.end();
    while (!(await running.line()).includes("database"));
    expect(modeOf(database)).toBe("600");
    running.child.kill("SIGTERM");
    expect((await running.ended()).stderr).toContain(`Others could read or write ${database}`);
  });

  test("keep a hub from starting if the token was open to others", async () => {
    await (await startDev(place)).stop();
    const token = place.path(".waybill", "operator.token");
    chmodSync(token, 0o640);
    const { code, stderr } = await place.run(["dev", "--port", "0"]);
    expect(code).toBe(5);
    expect(stderr).toContain("Delete the file, and the hub writes a new token");
    rmSync(token);
    await (await startDev(place)).stop();
    expect(modeOf(token)).toBe("600");
  });
});

describe.skipIf(process.platform === "win32")("doctor (POSIX)", () => {
  type Told = { findings: { name: string; verdict: string; says: string; todo?: string }[] };
  const finding = async (name: string) => {
    const { findings } = (await place.json(["doctor"])) as Told;
    return findings.find((each) => each.name === name)!;
  };

  test("reports a folder or file that others or the group can read or write", async () => {
    await (await startDev(place)).stop();
    const data = place.path(".waybill");
    expect(await finding("folder")).toMatchObject({ verdict: "ok" });
    expect(await finding("secrets")).toMatchObject({ verdict: "ok" });
    for (const mode of [0o750, 0o701, 0o770]) {
      chmodSync(data, mode);
      expect(await finding("folder")).toMatchObject({
        verdict: "wrong",
        todo: expect.stringContaining(`chmod 700 ${data}`),
      });
    }
    chmodSync(data, 0o700);
    const blobs = join(data, "hub.db-blobs");
    mkdirSync(blobs, { mode: 0o700 });
    expect(await finding("folder")).toMatchObject({ verdict: "ok" });
    chmodSync(blobs, 0o750);
    expect(await finding("folder")).toMatchObject({
      verdict: "wrong",
      todo: expect.stringContaining(`chmod 700 ${blobs}`),
    });
    chmodSync(blobs, 0o700);
    writeFileSync(join(data, "anna.key"), "{}", { mode: 0o600 });
    for (const name of ["hub.db", "hub.key", "operator.token", "anna.key"]) {
      const path = join(data, name);
      for (const mode of [0o640, 0o604, 0o620]) {
        chmodSync(path, mode);
        expect(await finding("secrets")).toMatchObject({
          verdict: "wrong",
          says: expect.stringContaining(path),
        });
      }
      chmodSync(path, 0o600);
    }
  });

  test("reports a parent in which others could replace the folder", async () => {
    mkdirSync(place.path("open"));
    const data = ["--data", "open/data"];
    await (await startDev(place, ["--port", "0", ...data])).stop();
    const folder = async () => {
      const { findings } = (await place.json(["doctor", ...data])) as Told;
      return findings.find(({ name }) => name === "folder")!;
    };
    chmodSync(place.path("open"), 0o777);
    expect(await folder()).toMatchObject({ verdict: "wrong" });
    expect((await folder()).todo).toContain(place.path("open"));
    chmodSync(place.path("open"), 0o1777);
    expect(await folder()).toMatchObject({ verdict: "ok" });
    chmodSync(place.path("open"), 0o775);
    expect(await folder()).toMatchObject({ verdict: "warning" });
    chmodSync(place.path("open"), 0o755);
    expect(await folder()).toMatchObject({ verdict: "ok" });
    expect(existsSync(place.path("open", "data", "hub.db"))).toBe(true);
    expect(statSync(place.path("open", "data")).mode & 0o777).toBe(0o700);
  });
});
