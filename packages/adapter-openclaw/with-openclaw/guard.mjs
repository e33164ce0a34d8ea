// Runs a gateway that ends with the process that asked for it, however that process ends.
import { spawn } from "node:child_process";
import process from "node:process";

const [program, ...args] = process.argv.slice(2);
const gateway = spawn(process.execPath, [program, ...args], { stdio: ["ignore", 1, 2] });
gateway.once("exit", () => process.exit());
process.stdin.once("end", () => gateway.kill("SIGKILL")).resume();
