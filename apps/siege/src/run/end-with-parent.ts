/// <reference types="node" />
// Loaded into the hub's process before its program: a hub never outlives the siege, however that ends.
process.channel?.unref();
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
