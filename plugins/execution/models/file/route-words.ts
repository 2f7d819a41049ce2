/** What to do about a route that cannot be used: that depends on where it is configured. */
import { commandLine, nearest, nearestOf } from '../../../../core/plugin.js'

export interface RouteWords {
  /** Where it is configured, in words. */
  readonly place: string
  /** These providers are there. */
  provider(known: string): string
  readonly model: string
  readonly family: string
  /** There is no key, or none that its server takes. */
  readonly key: string
  readonly base_url: string
  /** It says it can what its provider cannot; these providers can, if it is not in their models. */
  ability(name: string, able: string): string
  /** It may be something of these. */
  readonly check: string
}

const retry = 'A call that succeeds ends this warning; holdfast runs retry RUN_ID makes a new run of one that failed.'

/** The end of a sentence about a name that is none of these. */
export const meantOf = (name: string, known: Iterable<string>): string => {
  const meant = nearest(name, known)
  return meant === undefined ? '.' : `; did you mean ${meant}?`
}

/** Names of providers that are told in a sentence. */
const mostTold = 12

/** Providers to choose from where this one was named: of many those that are written most alike. */
export const choiceOf = (name: string, known: readonly string[]): string => {
  if (known.length <= mostTold) return known.join(', ')
  const more = known.length - mostTold
  return `${nearestOf(name, known, mostTold).join(', ')}, or of ${more} more in GET /v1/runtime/providers`
}

export const flagWords: RouteWords = {
  place: 'the flags of the daemon',
  provider: (known) => `Start with --provider and one of: ${known}.`,
  model: 'Start with --model NAME.',
  family: 'Start with --model and a model of the provider, or with --provider-base-url for a server that has others.',
  key: 'Start with --api-key-file FILE or --auth-ref SECRET that its server takes, or with SERVICE_API_KEY.',
  ability: (_, able) => `Start with --provider and one of: ${able}.`,
  base_url: 'Start with --provider-base-url, such as http://127.0.0.1:11434/v1.',
  check: `See that the model server runs and that --provider-base-url, --model and the key fit it. ${retry}`,
}

/** `driverLine` is that of its driver as the file is now, if it is known. */
export const fileWords = (route_id: string, file: string, driverLine: () => number | undefined): RouteWords => {
  const place = `[routes.${route_id}] of ${file}`
  const atDriver = (): string => {
    const line = driverLine()
    return line === undefined ? place : `${place}:${line}`
  }
  return {
    place,
    provider: (known) => `Set driver in ${atDriver()} to one of: ${known}.`,
    model: `Set default_model in ${place}.`,
    family: `Set default_model in ${place} to a model of the provider, or model_support to "any".`,
    key: `Set auth_ref in ${place} to a secret that its server takes: ${commandLine('secrets set SECRET --stdin')}`,
    ability: (name, able) => `Remove ${name} from ${place}${able && `, or set driver to one of: ${able}`}.`,
    base_url: `Set base_url in ${place}, such as http://127.0.0.1:11434/v1.`,
    check: `See that the model server runs and that base_url, default_model and the key in ${place} fit it. ${retry}`,
  }
}
