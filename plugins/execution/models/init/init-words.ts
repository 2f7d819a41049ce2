/** What `init` says. */
import { commandLine, sentence, shellWord, visibleLine } from '../../../../core/plugin.js'
import type { Candidate } from './found.js'

export interface CheckedRoute {
  readonly route_id: string
  readonly model: string
  readonly answered: boolean
  readonly code?: string | undefined
  readonly message?: string | undefined
}

interface Place {
  readonly isLocal: boolean
  /** The command that takes the key of the route. */
  readonly keyLine: string
}

/** A line of ours with the flags that were given. */
export const lineWith = (command: string, given: Readonly<Record<string, string | undefined>>): string =>
  [
    commandLine(command),
    ...Object.entries(given).flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, shellWord(value)])),
  ].join(' ')

/** What helps, by the code of what went wrong. */
const helpOf = ({ route_id, code = '' }: CheckedRoute, { isLocal, keyLine }: Place): string => {
  const place = `[routes.${route_id}] of config/routes.toml`
  switch (code) {
    case 'auth':
      return `Give the right key: ${visibleLine(keyLine)} --stdin`
    case 'network':
    case 'timeout':
      return isLocal
        ? 'Start the server, or see that base_url in config/routes.toml is its address.'
        : 'See that this machine reaches it.'
    case 'rate_limited':
    case 'overloaded':
      return 'See what its provider says of your account, and try again: holdfast runtime check-model'
    case 'bad_request':
    case 'unknown':
      return `See that the model and the address in ${place} are right.`
    default:
      return `See ${place}.`
  }
}

export const checkText = (check: CheckedRoute, place: Place): string => {
  const { route_id, model, answered, message = 'nobody said why' } = check
  const who = visibleLine(model === '' ? route_id : `${route_id} (${model})`)
  return answered
    ? `${who} answers.`
    : `${who} does not answer: ${sentence(visibleLine(message))} ${helpOf(check, place)}`
}

/** What a candidate is, in one line. */
export const describe = ({ route_id, because, models }: Candidate): string =>
  [`${route_id}: ${because}`, ...(models[0] === undefined ? [] : [`model ${models[0]}`])].join(', ')

/** Where the model of a route is changed that is there. */
const modelPlace = (route_id: string): string => `default_model of [routes.${route_id}] in config/routes.toml`

export const stayText = (route_id: string): string =>
  visibleLine(
    `${route_id}: is in config/routes.toml already and stays as it is. ` +
      `To use another model, change ${modelPlace(route_id)}.`,
  )

export const wishText = (route_id: string, wish: string): string =>
  visibleLine(`${route_id}: to use ${wish}, change ${modelPlace(route_id)}.`)
