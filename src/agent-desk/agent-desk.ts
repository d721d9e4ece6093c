import type { WorkDeclaration } from "#database/work.ts";
import type { DeskService, DeskServiceDependencies } from "./desk-service.ts";
import { createDeskService } from "./desk-service.ts";
import type { DeskEventDependencies } from "./incoming/events.ts";
import { declareDeskEvents } from "./incoming/events.ts";
import { declareDeskErasure } from "./sync/erase.ts";
import { declareDeskSync } from "./sync/sync.ts";

export interface AgentDesk {
  readonly service: DeskService;
  readonly work: readonly WorkDeclaration[];
}

/** The agents' desk on a platform: shows conversations there and applies what agents do there. */
export function createAgentDesk(dependencies: DeskServiceDependencies & DeskEventDependencies): AgentDesk {
  return {
    service: createDeskService(dependencies),
    work: [declareDeskSync(dependencies), ...declareDeskEvents(dependencies), declareDeskErasure(dependencies)],
  };
}
