import { Type } from "typebox";
import type { TObject, TSchema } from "typebox";

export const text = (description: string, maxLength = 2_000) => Type.String({ description, minLength: 1, maxLength });

export const closed = <T extends Record<string, TSchema>>(properties: T, description: string): TObject<T> =>
  Type.Object(properties, { additionalProperties: false, description });

/** A list, or one value for a list of one. */
export const oneOrMore = <T extends TSchema>(item: T, description: string) =>
  Type.Union([item, Type.Array(item, { minItems: 1, maxItems: 100 })], { description });

export function listOf<T>(given: T | readonly T[] | undefined): readonly T[] | undefined {
  if (given === undefined) return undefined;
  return Array.isArray(given) ? (given as readonly T[]) : [given as T];
}

/** Throws an Error that names the line of the setting at this path. */
export type Fail = (path: readonly (string | number)[], message: string) => never;
