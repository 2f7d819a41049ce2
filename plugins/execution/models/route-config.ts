/** One route as somebody configured it, and what its server is told by it: key, address, words of its vendor. */
import { childEnvironment, readSecretFile, type Clock, type Secrets } from '../../../core/plugin.js'
import type { SecretSlots } from '../../operator/secrets/contract.js'
import type { HoldsOf } from './bounds/kept-holds.js'
import type { OwnModels, RouteBackend } from './abilities/backends.js'
import type { ConnectionOptions, ModelProvider, RouteCapabilities, VendorOptions } from './contract.js'
import { modelErrors } from './errors.js'
import type { RouteWords } from './file/route-words.js'

/** One route as it is configured, by flags or in the file of routes. */
export interface RouteConfig {
  readonly route_id: string
  readonly provider: string
  readonly base_url?: string | undefined
  readonly model?: string | undefined
  readonly api_key?: string | undefined
  readonly api_key_env?: string | undefined
  readonly api_key_file?: string | undefined
  readonly auth_ref?: string | undefined
  readonly idle_timeout_ms: number
  /** 0 is no limit. */
  readonly max_concurrent_calls: number
  /** Tokens of one call, whatever the model is; undefined to go by what the provider knows. */
  readonly context_window?: number | undefined
  /** Tokens of one call where nobody says. */
  readonly usual_window: number
  /** True to take models of any name. */
  readonly takesAny: boolean
  /** What differs from what the provider says of itself. */
  readonly abilities: Partial<RouteCapabilities>
  readonly own_models: OwnModels
  /** What only its provider understands. */
  readonly vendor: VendorOptions
  /** Environment variables that hold some of that. */
  readonly vendor_env: Partial<Record<'organization' | 'project', string>>
  readonly words: RouteWords
}

/** What providers are called for by whoever looks at the answer. */
export type ProviderMember = 'connect' | 'readiness' | 'stream'

/** Where keys and times come from, and who counts. */
export interface KeySources {
  readonly clock: Clock
  /** Is told of each call that is held back, with its route. */
  readonly held: (route_id: string) => void
  /** Is told of what breaks the contract of providers, and which member of the provider or its connection did. */
  readonly broke: (provider: ModelProvider, member: ProviderMember, wrong: unknown) => void
  readonly holds: HoldsOf
  readonly secrets: Secrets
  /** Undefined if nothing stores secrets. */
  readonly slots: () => SecretSlots | undefined
  readonly backends: () => readonly RouteBackend[]
}

/** Throws `api_key_env_missing`. */
export const connectionOptions = (
  config: RouteConfig,
  sources: KeySources,
  key: string | undefined,
): ConnectionOptions => ({
  idle_timeout_ms: config.idle_timeout_ms,
  ...(config.base_url !== undefined && { base_url: config.base_url }),
  ...(key !== undefined && { api_key: key }),
  vendor: vendorOptions(config, sources),
})

const vendorOptions = ({ vendor, vendor_env, words }: RouteConfig, { secrets }: KeySources): VendorOptions => ({
  ...vendor,
  ...Object.fromEntries(
    Object.entries(vendor_env).map(([name, variable]) => [name, variableText(variable, { secrets, words })]),
  ),
})

/** An empty flag or variable is none. */
export const given = (text: string | undefined): string | undefined => (text?.trim() === '' ? undefined : text?.trim())

/** The key itself beats the file. */
export const configuredKey = (
  { api_key, api_key_env, api_key_file, words }: RouteConfig,
  { secrets }: KeySources,
): string | undefined => {
  const file = given(api_key_file)
  const variable = given(api_key_env)
  const key =
    given(api_key) ??
    (variable === undefined ? undefined : variableText(variable, { secrets, words })) ??
    (file === undefined ? undefined : readSecretFile(file))
  if (key !== undefined) secrets.guard(key)
  return key
}

const variableText = (
  name: string,
  { secrets, words }: Pick<KeySources, 'secrets'> & Pick<RouteConfig, 'words'>,
): string => {
  const value = childEnvironment({ pass: [name], redact: secrets.redact })[name]
  if (value === undefined || value === '')
    throw modelErrors.api_key_env_missing({ details: { name, place: words.place } })
  return value
}
