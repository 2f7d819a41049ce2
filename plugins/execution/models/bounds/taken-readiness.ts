/** What a connection says of its readiness, taken as other answers of plugins are (models-80). */
import { enums, fault, messageOf, open, optional, string, taken, warningCode } from '../../../../core/plugin.js'
import { takenWords } from './failure.js'

/** Whether a route can be used (models-10). */
export interface Readiness {
  readonly state: 'ok' | 'warning' | 'error'
  readonly code: string
  readonly message: string
  readonly action?: string | undefined
}

const Answer = open({
  state: enums(['ok', 'warning', 'error']),
  code: warningCode,
  message: string({ min: 1 }),
  action: optional(string()),
})
const mostBytes = 64 * 1024

/** Whose plugin a provider is of. */
export interface ProviderOf {
  readonly provider: string
  readonly plugin: string
}

/** What to do about a plugin that broke the contract of providers. */
export const correctPlugin = ({ plugin }: Pick<ProviderOf, 'plugin'>): string =>
  `See the fault of the plugin ${plugin} with: holdfast plugins list. ` +
  'Correct it, or take it out of config/plugins.toml.'

/** Of a route whose provider did not say what it must. */
export const failedProvider = ({ provider, plugin }: ProviderOf): Omit<Readiness, 'state'> => ({
  code: 'provider_fault',
  message: `The plugin of the provider ${provider} failed when the route was asked for.`,
  action: correctPlugin({ plugin }),
})

interface Asked extends ProviderOf {
  /** Its plugin is one of others. */
  readonly isOfOthers?: boolean
  /** The text without secrets that the daemon knows. */
  readonly redact: (text: string) => string
  readonly broke: (wrong: unknown) => void
}

/** Every run asks and few need the words: redacted where they are read. */
class TakenReadiness implements Readiness {
  readonly state: Readiness['state']
  readonly code: string
  readonly #words: Pick<Readiness, 'message' | 'action'>
  readonly #redact: Asked['redact']

  constructor({ state, code, ...words }: Readiness, redact: Asked['redact']) {
    this.state = state
    this.code = code
    this.#words = words
    this.#redact = redact
  }

  get message(): string {
    return takenWords(this.#words.message, this.#redact)
  }

  get action(): string | undefined {
    return this.#words.action && takenWords(this.#words.action, this.#redact)
  }
}

/** All of it as plain data. */
export const toldReadiness = ({ state, code, message, action }: Readiness): Readiness => ({
  state,
  code,
  message,
  ...(action !== undefined && { action }),
})

const take = (answer: unknown, { plugin, redact, isOfOthers }: Asked): Readiness => {
  // Nobody waits for it, whatever comes of it.
  if (answer instanceof Promise) void answer.catch(() => {})
  const { action = '', ...told } = taken(Answer, answer, { most: mostBytes })
  // Codes of the daemon's own are asked for with every run, and are words of its code.
  if (isOfOthers && redact(told.code) !== told.code) throw fault('what it returned is wrong: code holds a secret')
  if (action !== '') return new TakenReadiness({ ...told, action }, redact)
  if (told.state === 'ok') return new TakenReadiness(told, redact)
  return new TakenReadiness(
    { ...told, action: `See what the documentation of the plugin ${plugin} says of ${told.code}.` },
    redact,
  )
}

/** Asks, and is in error where the answer is none. The same fault is charged once: it is asked all the time. */
export const takenReadiness = (connection: { readiness(): unknown }, asked: Asked): (() => Readiness) => {
  let charged: string | undefined
  return () => {
    try {
      const readiness = take(connection.readiness(), asked)
      charged = undefined
      return readiness
    } catch (error) {
      const wrong = messageOf(error)
      if (wrong !== charged) asked.broke(error)
      charged = wrong
      return { state: 'error', ...failedProvider(asked) }
    }
  }
}
