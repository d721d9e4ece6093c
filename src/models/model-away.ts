/** The model does not answer, or answers wrongly. A later attempt may succeed. */
export class ModelAway extends Error {
  /** HTTP's status of the answer; undefined without one. */
  readonly status: number | undefined;

  constructor(message: string, { status, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.name = "ModelAway";
    this.status = status;
  }
}

/** The model is not called for a while, since it failed several times in a row. */
export class ModelPaused extends ModelAway {}

/** The model refuses one of the texts, and will refuse it again. */
export class TextRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TextRefused";
  }
}
