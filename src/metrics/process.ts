import { Registry, collectDefaultMetrics } from "prom-client";

let registry: Registry | undefined;

/**
 * Node.js's own metrics: processor time, memory, event loop, garbage collection. They are collected once a process, since
 * prom-client never disconnects its observers: each would retain the registry that it was made for.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
