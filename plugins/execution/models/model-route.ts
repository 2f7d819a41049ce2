/** Builds the configured way to a model. A route that cannot work is still a route: it says why and refuses. */
import { Problem, readSecretFile, type Secrets } from '../../../core/plugin.js'
import type { SecretSlots } from '../../operator/secrets/contract.js'
import type { ActiveModel, Configured } from './active-model.js'
import {
  textOnly,
  type ConnectionOptions,
  type ModelConnection,
  type ModelProvider,
  type ModelRoute,
} from './contract.js'
import { watchedRoute } from './route-health.js'
import { refusing, type Unready } from './refusing.js'
import { keyedBySlot } from './slot-key.js'

export interface RouteConfig {
  readonly provider: string
  readonly base_url?: string | undefined
  readonly model?: string | undefined
  readonly api_key?: string | undefined
  readonly api_key_file?: string | undefined
  readonly auth_ref?: string | undefined
  readonly idle_timeout_ms: number
}

/** Where keys come from. */
export interface KeySources {
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
  const connection =
    provider === undefined
      ? refusing(unknownProvider(config.provider, providers))
      : connect({ provider, model, config, sources })
  return {
    route_id: config.provider,
    provider: config.provider,
    model,
    ...(auth_ref !== undefined && { auth_ref }),
    capabilities: provider?.capabilities ?? textOnly,
    ...(provider?.context !== undefined && { context: provider.context }),
    ...(provider?.generation !== undefined && { generation: provider.generation }),
    connection,
  }
}

/** The configured route is the only one, and active. It is built when it is first asked for. */
export const configuredRoute = (
  config: RouteConfig,
  providers: () => readonly ModelProvider[],
  sources: KeySources,
): Configured => {
  let built: { readonly routes: readonly ModelRoute[]; readonly active: ActiveModel } | undefined
  const get = () => {
    if (built === undefined) {
      const route = buildRoute(config, providers(), sources)
      built = { routes: [route], active: { route_id: route.route_id, model: route.model } }
    }
    return built
  }
  return { routes: () => get().routes, active: () => get().active }
}

const unknownProvider = (name: string, providers: readonly ModelProvider[]): Unready => ({
  code: 'provider_unknown',
  message: `No plugin provides the model provider ${name}.`,
  action: `Start with --provider and one of: ${providers
    .map(({ id }) => id)
    .sort()
    .join(', ')}.`,
})

interface Wish {
  provider: ModelProvider
  model: string
  config: RouteConfig
  sources: KeySources
}

const connect = ({ provider, model, config, sources }: Wish): ModelConnection => {
  if (model === '')
    return refusing({
      code: 'model_missing',
      message: `The provider ${provider.id} needs the name of a model.`,
      action: 'Start with --model NAME.',
    })
  const auth_ref = given(config.auth_ref)
  if (auth_ref !== undefined && (given(config.api_key) ?? given(config.api_key_file)) !== undefined)
    return refusing(twoKeys)
  const connected = (key: () => string | undefined): ModelConnection =>
    orRefusing(() => provider.connect(options(config, key())))
  if (auth_ref === undefined) return watchedRoute(connected(() => configuredKey(config, sources.secrets)))
  return watchedRoute(keyedBySlot({ auth_ref, provider, slots: sources.slots, connected }))
}

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
const configuredKey = ({ api_key, api_key_file }: RouteConfig, secrets: Secrets): string | undefined => {
  const file = given(api_key_file)
  const key = given(api_key) ?? (file === undefined ? undefined : readSecretFile(file))
  if (key !== undefined) secrets.guard(key)
  return key
}
