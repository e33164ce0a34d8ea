// What is published brings its own copy of the template. Not committed: adapter-echo is the template.
import { join } from "node:path";
import { writeTemplate } from "./template.ts";

writeTemplate(join(import.meta.dirname, "../dist/template"));
