export interface Upload {
  readonly workspaceId: string;
  readonly accountId: string;
  /** Null before the customer's first message. */
  readonly conversationId: string | null;
  /** An agent or a customer's thread. Only this uploader can attach the file to a message. */
  readonly uploadedBy: string;
  readonly name: string;
  readonly mediaType: string;
  /** The visitor's IP address, for upload quotas. */
  readonly address?: string;
  /** The size that the sender declared; absent if unknown. */
  readonly declaredBytes?: number;
}

export interface Uploaded {
  readonly id: string;
  readonly name: string;
  /** Detected from the bytes. */
  readonly mediaType: string;
  readonly bytes: number;
}
