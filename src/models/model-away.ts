/** The model does not answer, or answers wrongly. A later attempt may succeed. */
export class ModelAway extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ModelAway";
  }
}

/** The model refuses one of the texts, and will refuse it again. */
export class TextRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TextRefused";
  }
}
