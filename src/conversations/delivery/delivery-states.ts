import type { DeliveryState } from "#database/schema/tables.ts";

/** The states of a part, in their order. */
export const rank: Readonly<Record<DeliveryState, number>> = {
  queued: 0,
  sending: 1,
  unknown: 2,
  sent: 3,
  failed: 4,
  delivered: 5,
  read: 6,
};

/** Returns the states from which a part may enter `state`. */
export function statesBefore(state: DeliveryState): readonly DeliveryState[] {
  return (Object.keys(rank) as DeliveryState[]).filter((before) => rank[before] < rank[state]);
}
