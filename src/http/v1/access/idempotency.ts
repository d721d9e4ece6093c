import { hash } from "node:crypto";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import { isDatabaseFault } from "#database/faults.ts";
import type { Claim, ClaimDependencies, KeptResponse } from "./idempotency-claims.ts";
import { createIdempotencyClaims } from "./idempotency-claims.ts";

export interface IdempotentRequest {
  readonly keyId: string;
  readonly path: string;
  /** The Idempotency-Key header. Undefined: the work runs each time. */
  readonly idempotencyKey: string | undefined;
  readonly body: unknown;
}

export interface Idempotency {
  /**
   * Runs `work` once for all requests with the same key and body, and returns its response to each of them. If `work` throws
   * or its process dies, nothing is kept: the next request runs it again with the same `workId`, by which it finds what was
   * stored. Throws Problem duplicate_request_id, and invalid_parameter for an invalid key.
   */
  run(
    request: IdempotentRequest,
    work: (workId: string | undefined) => Promise<KeptResponse>,
  ): Promise<KeptResponse & { readonly replayed: boolean }>;
}

export function createIdempotency(dependencies: ClaimDependencies): Idempotency {
  const claims = createIdempotencyClaims(dependencies);
  return {
    async run(request, work) {
      const key = request.idempotencyKey;
      if (key === undefined) return { ...(await work(undefined)), replayed: false };
      if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
        throw new Problem("invalid_parameter", "Idempotency-Key must be 1 to 255 visible ASCII characters.");
      }
      const claim: Claim = {
        key: {
          key_id: request.keyId,
          path: request.path.length > 190 ? hash("sha256", request.path, "hex") : request.path,
          // Hashed, because the column is shorter than a key may be.
          idempotency_key: hash("sha256", key, "hex"),
        },
        bodyHash: hash("sha256", JSON.stringify(request.body) ?? "", "hex"),
        workId: newId("req", dependencies.clock.now()),
      };
      let kept: KeptResponse | undefined;
      try {
        kept = await claims.take(claim);
      } catch (error) {
        // The claim may have been stored although the database reported a fault.
        if (isDatabaseFault(error)) await claims.release(claim);
        throw error;
      }
      if (kept !== undefined) return { ...kept, replayed: true };
      try {
        const response = await work(claim.workId);
        await claims.finish(claim, response);
        return { ...response, replayed: false };
      } catch (error) {
        await claims.release(claim);
        throw error;
      }
    },
  };
}
