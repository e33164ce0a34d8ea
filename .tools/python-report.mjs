/**
 * Reads a pytest report.
 * @param {string} xml
 */
export function countOf(xml) {
  /** @type {{ passed: number, failed: string[], skipped: string[] }} */
  const counts = { passed: 0, failed: [], skipped: [] };
  for (const [, attributes, , body = ""] of xml.matchAll(
    /<testcase ([^>]*?)(\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const test = ["classname", "name"].map((each) => attribute(attributes, each)).join(" > ");
    if (/<(failure|error)\b/.test(body)) counts.failed.push(test);
    else if (/<skipped\b/.test(body)) counts.skipped.push(`${test}: ${attribute(body, "message")}`);
    else counts.passed++;
  }
  return counts;
}

function attribute(text, name) {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "";
}
