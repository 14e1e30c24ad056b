// A client of clearance, in Node and in pages.

export { Clearance, connect, type ConnectOptions } from "./client.js";
export { ClearanceError } from "./errors.js";
export { type FrameInit, Session, type SessionInit, type StepOptions } from "./session.js";
export { type RetryPolicy, USUAL_RETRY } from "./ways.js";
