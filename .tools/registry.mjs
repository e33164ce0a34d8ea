// A registry for packages that are not published yet: it serves these tarballs, and redirects npm to
// its configured registry for everything else. Runs as its own process: `node registry.mjs <upstream>
// <tarball> …`; it prints its address in one line.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename } from "node:path";
import { execFileSync } from "node:child_process";

const [upstream, ...files] = process.argv.slice(2);
const packages = new Map(
  files.map((file) => {
    const text = execFileSync("tar", ["-xzOf", file, "package/package.json"], { encoding: "utf8" });
    const manifest = JSON.parse(text);
    return [manifest.name, { file, manifest, bytes: readFileSync(file) }];
  }),
);

const server = createServer(answer);
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));

function answer(request, response) {
  const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname.slice(1));
  const own = packages.get(path);
  if (own !== undefined) {
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify(documentOf(own, `http://${request.headers.host}`)));
  }
  const tarball = [...packages.values()].find(({ file }) => path === `tarballs/${basename(file)}`);
  if (tarball !== undefined) return response.end(tarball.bytes);
  // npm follows the redirect itself, because only npm knows the machine's proxy and certificates.
  response.writeHead(302, { location: new URL(request.url.slice(1), upstream).href }).end();
}

function documentOf({ file, manifest, bytes }, address) {
  const { name, version } = manifest;
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const dist = { tarball: `${address}/tarballs/${basename(file)}`, integrity };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}
