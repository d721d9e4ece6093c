export interface Upload {
  readonly workspaceId: string;
  readonly accountId: string;
  /** Null: the customer's first message is still to come. */
  readonly conversationId: string | null;
  /** An agent, or a customer's thread: nobody else can send it. */
  readonly uploadedBy: string;
  readonly name: string;
  readonly mediaType: string;
  /** Of a visitor, whose quotas the file counts in. */
  readonly address?: string;
  /** As the sender says; absent: unknown. */
  readonly declaredBytes?: number;
}

export interface Uploaded {
  readonly id: string;
  readonly name: string;
  /** What the bytes say. */
  readonly mediaType: string;
  readonly bytes: number;
}
