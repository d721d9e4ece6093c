/** The answer of `GET /admin/v1/overview`. */
export interface Overview {
  readonly channels: readonly {
    readonly id: string;
    readonly name: string;
    readonly label: string;
    readonly error: string | null;
  }[];
  readonly documents_failed: number;
  readonly webhooks: readonly {
    readonly id: string;
    readonly url: string;
    readonly state: "failing" | "disabled";
    readonly reason: string | null;
  }[];
  readonly dead_letters: readonly DeadLetter[];
  readonly versions: readonly (string | null)[];
  readonly model_budget_spent: boolean;
  readonly system: readonly { readonly name: string; readonly cause: string | null }[];
  readonly first_steps: {
    readonly dismissed: boolean;
    readonly documents: boolean;
    /** The bot still answers from the built-in manual. */
    readonly manual: boolean;
    readonly question: boolean;
    readonly widget: boolean;
    readonly channel: boolean;
    readonly colleague: boolean;
  };
}

/** Work that was given up. */
export interface DeadLetter {
  readonly id: string;
  readonly conversation_id: string | null;
  /** Says what was not done. */
  readonly title: string;
  readonly error: string | null;
  readonly can_retry: boolean;
  readonly can_dismiss: boolean;
}
