import type { AdapterModule } from "./contract.ts";
import { schemaErrors } from "#config/errors.ts";

export interface ChannelConfigError {
  /** Undefined: of the account. */
  readonly setting: string | undefined;
  /** The setting of the account that is absent. */
  readonly missing?: string;
  readonly message: string;
}

/** The first thing wrong with an account's configuration. */
export function channelConfigError(
  module: Pick<AdapterModule, "config">,
  config: unknown,
): ChannelConfigError | undefined {
  return channelConfigErrors(module, config)[0];
}

/** Everything that is wrong with an account's configuration, in words that hold none of its values. */
export function channelConfigErrors(
  module: Pick<AdapterModule, "config">,
  config: unknown,
): readonly ChannelConfigError[] {
  const allowed = Object.keys(module.config.properties).join(", ");
  return schemaErrors(module.config, config).map(({ path, message, unknown, missing }): ChannelConfigError => {
    const within = path.join(".");
    const [setting] = path;
    if (unknown !== undefined) {
      return setting === undefined
        ? { setting: unknown, message: `${unknown} is not a setting; allowed: ${allowed}` }
        : { setting, message: `${within} has no ${unknown}` };
    }
    const property: { readonly description?: string } | undefined = module.config.properties[missing ?? setting ?? ""];
    const about = property?.description === undefined ? "" : `: ${property.description.replace(/\.$/u, "")}`;
    if (missing !== undefined) {
      return setting === undefined
        ? { setting: undefined, missing, message: `${missing} is required${about}` }
        : { setting, message: `${within} needs ${missing}` };
    }
    return { setting, message: `${within || "it"} ${message}${about}` };
  });
}
