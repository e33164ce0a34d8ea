import { consolePage } from "@waybill/console";

const { files, headers } = await consolePage();
console.log(`index.html: ${files.get("index.html")?.type}`);
console.log(`frames: ${headers["x-frame-options"]}`);
