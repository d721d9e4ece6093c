import type { TSchema } from "typebox";
import { Type } from "typebox";
import type { ProblemCode } from "#domain/problem.ts";
import { responses } from "#http/v1/schemas.ts";

/** Errors of every route below /admin/v1, besides those of every route of the API. */
const everywhere = [
  "signed_out",
  "insufficient_role",
  "insufficient_scope",
  "second_factor_required",
  "cross_site",
] as const;

/** The responses of a route below /admin/v1. */
export const adminResponses = (
  success: Readonly<Record<number, TSchema>>,
  codes: readonly ProblemCode[],
): Record<number, TSchema> => responses(success, [...codes, ...everywhere]);

/** A name that people give to a key, a team or the like. */
export const givenName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "\\S",
  allowed: "a name of 1 to 100 characters",
});
