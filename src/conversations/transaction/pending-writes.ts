import type { Insertable } from "kysely";
import type { NewWork } from "#database/queries/outbox.ts";
import type { AuditTable, ConversationLinksTable, DeliveriesTable, MessagesTable } from "#database/schema/tables.ts";
import type { WeakAnswers } from "./effects/weak-answers.ts";
import { createWeakAnswers } from "./effects/weak-answers.ts";
import type { Events } from "./effects/events.ts";
import { createEvents } from "./effects/events.ts";
import type { FileEffects } from "./effects/file-effects.ts";
import { createFileEffects } from "./effects/file-effects.ts";
import type { TagEffects } from "./effects/tag-effects.ts";
import { createTagEffects } from "./effects/tag-effects.ts";

/** Rows and work that drafts have collected, and that the unit of work writes at the end of the transaction. */
export interface PendingWrites {
  readonly now: number;
  readonly messages: MessagesTable[];
  /** Ids of messages whose reactions have changed. */
  readonly reacted: Set<string>;
  readonly deliveries: Insertable<DeliveriesTable>[];
  readonly links: ConversationLinksTable[];
  readonly audits: AuditTable[];
  readonly works: NewWork[];
  readonly files: FileEffects;
  readonly events: Events;
  readonly tags: TagEffects;
  readonly weakAnswers: WeakAnswers;
}

export function createPendingWrites(now: number): PendingWrites {
  const works: NewWork[] = [];
  return {
    now,
    messages: [],
    reacted: new Set(),
    deliveries: [],
    links: [],
    audits: [],
    works,
    files: createFileEffects(works, now),
    events: createEvents(now),
    tags: createTagEffects(),
    weakAnswers: createWeakAnswers(),
  };
}
