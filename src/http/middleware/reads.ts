import type { FastifyRequest } from "fastify";
import { refusesChanges } from "#database/faults.ts";

/** Requests that change nothing. */
export const isReading = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

/**
 * Runs what a request stores beside its own work: its count, and the use of its key. Undefined: the database takes no
 * changes, and the request is a read, which is answered all the same.
 */
export async function storeBeside<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isReading(request) || !refusesChanges(error)) throw error;
    request.log.warn({ err: error, requestId: request.id }, "limits: request not counted");
    return undefined;
  }
}
