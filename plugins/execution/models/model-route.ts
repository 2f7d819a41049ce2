/** Builds the configured way to a model. A route that cannot work is still a route: it says why and refuses. */
import {
  childEnvironment,
  Problem,
  readSecretFile,
  unsafeCast,
  type Clock,
  type Secrets,
} from '../../../core/plugin.js'
import type { SecretSlots } from '../../operator/secrets/contract.js'
import { limitedRoute } from './limited-route.js'
import { watchedRoute } from './route-health.js'
import { createRoutePace, type RoutePace } from './route-pace.js'
import {
  textOnly,
  type ConnectionOptions,
  type ModelConnection,
  type ModelProvider,
  type ModelRoute,
  type RouteCapabilities,
  type VendorOptions,
} from './contract.js'
import { windowOf } from './bounds/context-window.js'
import { modelErrors } from './errors.js'
import { refusing, type Unready } from './refusing.js'
import type { RouteWords } from './file/route-words.js'
import { keyedBySlot } from './slot-key.js'

/** One route as it is configured, by flags or in `config/routes.toml`. */
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
  /** What only its provider understands. */
  readonly vendor: VendorOptions
  /** Environment variables that hold some of that. */
  readonly vendor_env: Partial<Record<'organization' | 'project', string>>
  readonly words: RouteWords
}

/** Where keys and times come from, and who counts. */
export interface KeySources {
  readonly clock: Clock
  /** Is told of each call that is held back, with its route. */
  readonly held: (route_id: string) => void
  readonly secrets: Secrets
  /** Undefined if nothing stores secrets. */
  readonly slots: () => SecretSlots | undefined
}

export const buildRoute = (
  config: RouteConfig,
  providers: readonly ModelProvider[],
  sources: KeySources,
): ModelRoute => {
  const provider = providers.find(({ id }) => id === config.provider)
  const model = config.model ?? provider?.default_model ?? ''
  const auth_ref = given(config.auth_ref)
  const pace = createRoutePace(sources.clock, () => sources.held(config.route_id))
  const connection =
    provider === undefined
      ? refusing(unknownProvider(config, providers))
      : connect({ provider, model, config, sources, pace })
  return {
    route_id: config.route_id,
    provider: config.provider,
    model,
    ...(auth_ref !== undefined && { auth_ref }),
    capabilities: { ...(provider?.capabilities ?? textOnly), ...config.abilities },
    ...(provider?.context !== undefined && { context: provider.context }),
    ...(provider?.generation !== undefined && { generation: provider.generation }),
    ...(provider?.family !== undefined && !config.takesAny && { family: provider.family }),
    context_window: windowOf({
      own: config.context_window,
      usual: config.usual_window,
      provider: provider?.context_window,
    }),
    connection,
    pace: pace.view,
  }
}

const unknownProvider = ({ provider, words }: RouteConfig, providers: readonly ModelProvider[]): Unready => ({
  code: 'provider_unknown',
  message: `No plugin provides the model provider ${provider}.`,
  action: words.provider(
    providers
      .map(({ id }) => id)
      .sort()
      .join(', '),
  ),
})

interface Wish {
  provider: ModelProvider
  model: string
  config: RouteConfig
  sources: KeySources
  pace: RoutePace
}

const connect = ({ provider, model, config, sources, pace }: Wish): ModelConnection => {
  if (model === '')
    return refusing({
      code: 'model_missing',
      message: `The provider ${provider.id} needs the name of a model.`,
      action: config.words.model,
    })
  if (!config.takesAny && provider.family?.has(model) === false)
    return refusing({
      code: 'model_family_mismatch',
      message: `Models of ${provider.id} must ${provider.family.rule}.`,
      action: config.words.family,
    })
  const lacking = Object.entries(config.abilities).find(
    ([name, wanted]) => wanted === true && unsafeCast<Record<string, unknown>>(provider.capabilities)[name] !== true,
  )
  if (lacking !== undefined) return refusing(unable(config, lacking[0]))
  const foreign = Object.keys({ ...config.vendor, ...config.vendor_env }).find(
    (name) => provider.vendor_options?.some((known) => known === name) !== true,
  )
  if (foreign !== undefined) return refusing(notIts(config, foreign))
  const auth_ref = given(config.auth_ref)
  if (auth_ref !== undefined && (given(config.api_key) ?? given(config.api_key_file)) !== undefined)
    return refusing(twoKeys)
  const connected = (key: () => string | undefined): ModelConnection =>
    orRefusing(() =>
      provider.connect({ ...options(config, key()), vendor: vendorOptions(config, sources), tellLimits: pace.told }),
    )
  const connection =
    auth_ref === undefined
      ? connected(() => configuredKey(config, sources))
      : keyedBySlot({ auth_ref, provider, slots: sources.slots, connected })
  const watched = watchedRoute(connection, { action: config.words.check, pace })
  return limitedRoute(watched, config.max_concurrent_calls, pace)
}

const unable = ({ provider, words }: RouteConfig, ability: string): Unready => ({
  code: 'capability_unavailable',
  message: `The provider ${provider} has no ${ability}, which the route says it has.`,
  action: `Remove ${ability} from ${words.place}.`,
})

const notIts = ({ provider, words }: RouteConfig, name: string): Unready => ({
  code: 'vendor_option_foreign',
  message: `The provider ${provider} has no ${name}.`,
  action: `Remove ${name} from ${words.place}.`,
})

const vendorOptions = ({ vendor, vendor_env, words }: RouteConfig, { secrets }: KeySources): VendorOptions => ({
  ...vendor,
  ...Object.fromEntries(
    Object.entries(vendor_env).map(([name, variable]) => [name, variableText(variable, { secrets, words })]),
  ),
})

const twoKeys: Unready = {
  code: 'credential_ambiguous',
  message: 'The route has a stored secret and another key.',
  action: 'Give either --auth-ref, or --api-key or --api-key-file.',
}

/** What cannot work is a connection that says so. */
const orRefusing = (connect: () => ModelConnection): ModelConnection => {
  try {
    return connect()
  } catch (error) {
    if (error instanceof Problem) return refusing(unready(error))
    throw error
  }
}

const unready = ({ code, message, spec }: Problem): Unready => ({
  code,
  message,
  ...(spec.action !== undefined && { action: spec.action }),
})

const options = (config: RouteConfig, key: string | undefined): ConnectionOptions => ({
  idle_timeout_ms: config.idle_timeout_ms,
  ...(config.base_url !== undefined && { base_url: config.base_url }),
  ...(key !== undefined && { api_key: key }),
})

/** An empty flag or variable is none. */
const given = (text: string | undefined): string | undefined => (text?.trim() === '' ? undefined : text?.trim())

/** The key itself beats the file. */
const configuredKey = (
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
