/** What a route of a file may say that only some providers understand (models-49). */
export interface VendorOptions {
  readonly organization?: string | undefined
  readonly project?: string | undefined
  readonly anthropic_version?: string | undefined
  readonly anthropic_beta_headers?: readonly string[] | undefined
}

const names: Readonly<Record<keyof VendorOptions, true>> = {
  organization: true,
  project: true,
  anthropic_version: true,
  anthropic_beta_headers: true,
}
export const vendorOptionNames: readonly string[] = Object.keys(names)
