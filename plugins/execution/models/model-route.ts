/** Builds the configured way to a model. A route that cannot work is still a route: it says why and refuses. */
import { blame, contributorOf, digest, hasMembers, isOfOthers, Problem, unsafeCast } from '../../../core/plugin.js'
import { limitedRoute } from './limited-route.js'
import { watchedRoute } from './route-health.js'
import { createRoutePace, type RoutePace } from './route-pace.js'
import { ableProviders, hasBackend, type RouteBackend } from './abilities/backends.js'
import {
  textOnly,
  type ConnectionOptions,
  type ModelConnection,
  type ModelProvider,
  type ModelRoute,
} from './contract.js'
import { windowOf } from './bounds/context-window.js'
import { failedProvider, type ProviderOf } from './bounds/taken-readiness.js'
import { modelErrors } from './errors.js'
import { choiceOf, meantOf } from './file/route-words.js'
import { refusing, type Unready } from './refusing.js'
import { configuredKey, connectionOptions, given, type KeySources, type RouteConfig } from './route-config.js'
import { keyedBySlot } from './slot-key.js'

export const buildRoute = (
  config: RouteConfig,
  providers: readonly ModelProvider[],
  sources: KeySources,
): ModelRoute => {
  const provider = providers.find(({ id }) => id === config.provider)
  const model = config.model ?? provider?.default_model ?? ''
  const [auth_ref, own] = [given(config.auth_ref), given(config.api_key)]
  // Also that of a route that cannot work (models-14).
  if (own !== undefined) sources.secrets.guard(own)
  const pace = createRoutePace(
    sources.clock,
    () => sources.held(config.route_id),
    sources.holds(config.route_id, fingerprintOf(config)),
  )
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
    ...(provider?.searches !== undefined && { searches: provider.searches }),
    context_window: windowOf({
      own: config.context_window,
      usual: config.usual_window,
      provider: provider?.context_window,
    }),
    connection,
    own_models: config.own_models,
    reach: reachOf(config, sources, connection),
    pace: pace.view,
  }
}

/** Who is asked, and with whose key: limits are of both. A key itself is nowhere to be seen. */
const fingerprintOf = ({ provider, base_url, auth_ref, api_key_env, api_key_file, vendor }: RouteConfig): string =>
  digest({ provider, base_url, auth_ref, api_key_env, api_key_file, vendor })

/** A route whose connection can be used has a key that may be shown to its server. */
const reachOf = (config: RouteConfig, sources: KeySources, connection: ModelConnection) => (): ConnectionOptions => {
  const { state, message } = connection.readiness()
  const { route_id } = config
  if (state === 'error') throw modelErrors.route_not_ready({ details: { route_id, reason: message } })
  const auth_ref = given(config.auth_ref)
  const key = auth_ref === undefined ? configuredKey(config, sources) : sources.slots()?.value(auth_ref)
  return connectionOptions(config, sources, key)
}

const unknownProvider =
  ({ provider, words }: RouteConfig, providers: readonly ModelProvider[]) =>
  (): Unready => {
    const known = providers.map(({ id }) => id).sort()
    return {
      code: 'provider_unknown',
      message: `No plugin provides the model provider ${provider}${meantOf(provider, known)}`,
      action: words.provider(choiceOf(provider, known)),
    }
  }

interface Wish {
  provider: ModelProvider
  model: string
  config: RouteConfig
  sources: KeySources
  pace: RoutePace
}

const connect = (wish: Wish): ModelConnection => {
  const { provider, config, sources, pace } = wish
  const fault = faultOf(wish)
  if (fault !== undefined) return refusing(fault)
  const auth_ref = given(config.auth_ref)
  const connected = (key: () => string | undefined): ModelConnection =>
    orRefusing(wish, () => provider.connect({ ...connectionOptions(config, sources, key()), tellLimits: pace.told }))
  const connection =
    auth_ref === undefined
      ? connected(() => configuredKey(config, sources))
      : keyedBySlot({ auth_ref, place: config.words.place, provider, slots: sources.slots, connected })
  const watched = watchedRoute(connection, {
    ...providerOf(provider),
    broke: (member, wrong) => sources.broke(provider, member, wrong),
    blamed: (error) => blame(provider, error),
    clock: sources.clock,
    idle_timeout_ms: config.idle_timeout_ms,
    redact: sources.secrets.redact,
    words: config.words,
    pace,
    isOfOthers: isOfOthers(provider),
  })
  return limitedRoute(watched, config.max_concurrent_calls, pace)
}

/** What is wrong with a route, as far as it can be known without asking. */
const faultOf = ({ provider, model, config, sources }: Wish): Unready | undefined => {
  if (model === '')
    return {
      code: 'model_missing',
      message: `The provider ${provider.id} needs the name of a model.`,
      action: config.words.model,
    }
  if (!config.takesAny && provider.family?.has(model) === false)
    return {
      code: 'model_family_mismatch',
      message: `Models of ${provider.id} must ${provider.family.rule}.`,
      action: config.words.family,
    }
  const can = (name: string): boolean =>
    unsafeCast<Record<string, unknown>>(provider.capabilities)[name] === true ||
    hasBackend(sources.backends(), provider.id, name)
  const lacking = Object.entries(config.abilities).find(([name, wanted]) => wanted === true && !can(name))
  if (lacking !== undefined) return unable(config, lacking[0], sources.backends())
  if (config.abilities.native_web_search === true && provider.searches?.(model) === false)
    return searchless(config, model)
  const foreign = Object.keys({ ...config.vendor, ...config.vendor_env }).find(
    (name) => provider.vendor_options?.some((known) => known === name) !== true,
  )
  if (foreign !== undefined) return notIts(config, foreign)
  const isAmbiguous = given(config.auth_ref) !== undefined && (given(config.api_key) ?? given(config.api_key_file))
  return isAmbiguous === false || isAmbiguous === undefined ? undefined : twoKeys
}

const unable = ({ provider, words }: RouteConfig, ability: string, backends: readonly RouteBackend[]): Unready => ({
  code: 'capability_unavailable',
  message: `The provider ${provider} has no ${ability}, which the route says it has.`,
  action: words.ability(ability, choiceOf(provider, ableProviders(backends, ability))),
})

const searchless = ({ provider, words }: RouteConfig, model: string): Unready => ({
  code: 'capability_unavailable',
  message: `The model ${model} of ${provider} has no native_web_search beside tools, which the route says it has.`,
  action: `Remove native_web_search from ${words.place}, or name a model there that has it.`,
})

const notIts = ({ provider, words }: RouteConfig, name: string): Unready => ({
  code: 'vendor_option_foreign',
  message: `The provider ${provider} has no ${name}.`,
  action: `Remove ${name} from ${words.place}.`,
})

const twoKeys: Unready = {
  code: 'credential_ambiguous',
  message: 'The route has a stored secret and another key.',
  action: 'Give either --auth-ref, or --api-key or --api-key-file.',
}

const providerOf = (provider: ModelProvider): ProviderOf => ({
  provider: provider.id,
  plugin: contributorOf(provider) ?? provider.id,
})

const connectionFault = hasMembers<ModelConnection>('a connection', { readiness: 'function', stream: 'function' })

/** What cannot work is a connection that says so. */
const orRefusing = ({ provider, sources }: Wish, connect: () => ModelConnection): ModelConnection => {
  try {
    const connection = connect()
    const wrong = connectionFault(connection)
    if (wrong === undefined) return connection
    sources.broke(provider, 'connect', `what connect returned is wrong: ${wrong}`)
  } catch (error) {
    if (error instanceof Problem) return refusing(unready(error))
    sources.broke(provider, 'connect', error)
  }
  return refusing(failedProvider(providerOf(provider)))
}

const unready = ({ code, message, action }: Problem): Unready => ({
  code,
  message,
  ...(action !== undefined && { action }),
})
