/** Builds the configured way to a model. A route that cannot work is still a route: it says why and refuses. */
import { Problem, readSecretFile, type Secrets } from '../../../core/plugin.js'
import type { ActiveModel, Configured } from './active-model.js'
import {
  textOnly,
  type ConnectionOptions,
  type ModelConnection,
  type ModelProvider,
  type ModelRoute,
  type Readiness,
} from './contract.js'
import { watchedRoute } from './route-health.js'

export interface RouteConfig {
  readonly provider: string
  readonly base_url?: string | undefined
  readonly model?: string | undefined
  readonly api_key?: string | undefined
  readonly api_key_file?: string | undefined
  readonly idle_timeout_ms: number
}

type Unready = Omit<Readiness, 'state'>

export const buildRoute = (config: RouteConfig, providers: readonly ModelProvider[], secrets: Secrets): ModelRoute => {
  const provider = providers.find(({ id }) => id === config.provider)
  const model = config.model ?? provider?.default_model ?? ''
  const connection =
    provider === undefined
      ? refusing(unknownProvider(config.provider, providers))
      : connect({ provider, model, config, secrets })
  return {
    route_id: config.provider,
    provider: config.provider,
    model,
    capabilities: provider?.capabilities ?? textOnly,
    ...(provider?.generation !== undefined && { generation: provider.generation }),
    connection,
  }
}

/** The configured route is the only one, and active. It is built when it is first asked for. */
export const configuredRoute = (
  config: RouteConfig,
  providers: () => readonly ModelProvider[],
  secrets: Secrets,
): Configured => {
  let built: { readonly routes: readonly ModelRoute[]; readonly active: ActiveModel } | undefined
  const get = () => {
    if (built === undefined) {
      const route = buildRoute(config, providers(), secrets)
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
  secrets: Secrets
}

const connect = ({ provider, model, config, secrets }: Wish): ModelConnection => {
  if (model === '')
    return refusing({
      code: 'model_missing',
      message: `The provider ${provider.id} needs the name of a model.`,
      action: 'Start with --model NAME.',
    })
  try {
    return watchedRoute(provider.connect(options(config, secrets)))
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

const options = (config: RouteConfig, secrets: Secrets): ConnectionOptions => {
  const key = apiKey(config)
  if (key !== undefined) secrets.guard(key)
  return {
    idle_timeout_ms: config.idle_timeout_ms,
    ...(config.base_url !== undefined && { base_url: config.base_url }),
    ...(key !== undefined && { api_key: key }),
  }
}

/** The key itself beats the file; an empty flag or variable is no key. */
const apiKey = ({ api_key, api_key_file }: RouteConfig): string | undefined => {
  if (api_key !== undefined && api_key.trim() !== '') return api_key.trim()
  return api_key_file === undefined || api_key_file === '' ? undefined : readSecretFile(api_key_file)
}

/** A connection that asks nobody: its readiness says why. */
const refusing = (why: Unready): ModelConnection => {
  const readiness: Readiness = { state: 'error', ...why }
  return {
    readiness: () => readiness,
    async *stream() {
      yield {
        type: 'done',
        outcome: 'failed',
        failure: { class: 'bad_request', retryable: false, message: why.message },
      }
    },
  }
}
