/** What `init` says. */
import { commandLine, sentence, visibleLine } from '../../../../core/plugin.js'

export interface CheckedRoute {
  readonly route_id: string
  readonly model: string
  readonly answered: boolean
  readonly code?: string | undefined
  readonly message?: string | undefined
}

/** What helps, by the code of what went wrong. */
const helpOf = ({ route_id, code = '' }: CheckedRoute, isLocal: boolean): string => {
  const place = `[routes.${route_id}] of config/routes.toml`
  switch (code) {
    case 'auth':
      return `Store the right key: ${commandLine('secrets set', `models.${route_id}`)} --stdin`
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

export const checkText = (check: CheckedRoute, isLocal: boolean): string => {
  const { route_id, model, answered, message = 'nobody said why' } = check
  const who = `${visibleLine(route_id)} (${visibleLine(model)})`
  return answered
    ? `${who} answers.`
    : `${who} does not answer: ${sentence(visibleLine(message))} ${helpOf(check, isLocal)}`
}
