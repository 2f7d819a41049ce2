/** What a connection says of its readiness, taken as other answers of plugins are (models-80). */
import { enums, messageOf, open, optional, string, taken } from '../../../../core/plugin.js'

/** Whether a route can be used (models-10). */
export interface Readiness {
  readonly state: 'ok' | 'warning' | 'error'
  readonly code: string
  readonly message: string
  readonly action?: string
}

const Answer = open({
  state: enums(['ok', 'warning', 'error']),
  code: string({ min: 1 }),
  message: string({ min: 1 }),
  action: optional(string()),
})
const mostBytes = 64 * 1024

/** Of a route whose provider did not say what it must. */
export const failedProvider = (provider: string): Omit<Readiness, 'state'> => ({
  code: 'provider_fault',
  message: `The plugin of the provider ${provider} failed when the route was asked for.`,
  action: `See its fault in holdfast plugins list. Correct it, or take it out of config/plugins.toml.`,
})

const take = (answer: unknown): Readiness => {
  // Nobody waits for it, whatever comes of it.
  if (answer instanceof Promise) void answer.catch(() => {})
  const { state, code, message, action } = taken(Answer, answer, { most: mostBytes })
  return { state, code, message, ...(action !== undefined && { action }) }
}

interface Asked {
  readonly provider: string
  readonly broke: (wrong: unknown) => void
}

/** Asks, and is in error where the answer is none. The same fault is charged once: it is asked all the time. */
export const takenReadiness = (connection: { readiness(): unknown }, { provider, broke }: Asked): (() => Readiness) => {
  let charged: string | undefined
  return () => {
    try {
      const readiness = take(connection.readiness())
      charged = undefined
      return readiness
    } catch (error) {
      const wrong = messageOf(error)
      if (wrong !== charged) broke(error)
      charged = wrong
      return { state: 'error', ...failedProvider(provider) }
    }
  }
}
