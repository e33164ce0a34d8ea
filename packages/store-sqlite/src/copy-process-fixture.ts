/// <reference types="node" />
// Copies blobs in a process of its own: which system calls it makes is for a test to see.
import { copyBlobs } from "./copy-blobs.ts";

const [, , from, to] = process.argv;
await copyBlobs(from!, to!, new Map());
