import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";
import { OutboundFailure, RefusedAddress } from "#outbound/guarded-fetch.ts";
import { ProviderFault } from "./fault.ts";

const shownMax = 200;
const printable = (text: string): string => text.replaceAll(/[^\x20-\x7E]/g, "?").slice(0, shownMax);

/**
 * Throws the ProviderFault of an error. The errors of openid-client hold requests and answers with tokens, so they must
 * not be logged, nor kept as a cause.
 */
export function faultOf(error: unknown): never {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderFault) throw cause;
    if (cause instanceof RefusedAddress || cause instanceof OutboundFailure) {
      throw new ProviderFault("unreachable", `issuer: ${cause.message}`);
    }
  }
  if (error instanceof AuthorizationResponseError) {
    throw new ProviderFault("refused", `the provider answered ${printable(error.error)}`);
  }
  if (error instanceof ResponseBodyError) {
    const isClient = error.error === "invalid_client" || error.error === "unauthorized_client";
    const setting = isClient ? "client_id, client_secret: " : "";
    throw new ProviderFault(
      isClient ? "client" : "answer",
      `${setting}the provider answered ${printable(error.error)}`,
    );
  }
  if (error instanceof ClientError) {
    const { cause } = error;
    // Its message is fixed, and says which check failed.
    const isCheck = cause instanceof Error && cause.name === "OperationProcessingError";
    const { message } = isCheck ? cause : error;
    throw new ProviderFault("answer", `${printable(error.code ?? "invalid answer")}: ${printable(message)}`);
  }
  throw new ProviderFault("answer", error instanceof Error ? printable(error.name) : "unknown error");
}
