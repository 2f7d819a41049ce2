/** Whose fault a wrong answer is: who looks at it throws, and no code of the plugin that gave it is in the stack. */
import { fault } from '../../base/assert.js'
import { isError, messageOf } from '../../base/text/thrown.js'

const contributors = new WeakMap<object, string>()
/** Charges what is wrong with an answer of one function, and gives the problem. */
type Refute = (name: string, wrong: string) => Error
const refutes = new WeakMap<object, Refute>()
const blamed = new WeakMap<Error, string>()

/** Notes the plugin that a contribution is of. */
export const noteContributor = (contribution: unknown, plugin: string): void => {
  if (typeof contribution === 'object' && contribution !== null) contributors.set(contribution, plugin)
}

/** The plugin that a contribution is of; undefined for what nobody has contributed. */
export const contributorOf = (contribution: object): string | undefined => contributors.get(contribution)

/** Notes how an answer of a third-party contribution is refuted. */
export const noteRefute = (contribution: unknown, refute: Refute): void => {
  if (typeof contribution === 'object' && contribution !== null) refutes.set(contribution, refute)
}

/** Whether a contribution, as a view of a point with answers gives it, is of a plugin of others. */
export const isOfOthers = (contribution: object): boolean => refutes.has(contribution)

/**
 * What only the caller can see to be wrong with an answer of a function (`name`) of a contribution, such as an asset
 * that is not there: charged to its plugin as if its point had refused it, and told as `plugin_failed`. Undefined where
 * its plugin is not one of others.
 */
export const refuted = (contribution: object, name: string, wrong: string): Error | undefined =>
  refutes.get(contribution)?.(name, wrong)

/**
 * What went wrong with a contribution, as the error to log: it is charged to the plugin that contributed, unless its
 * stack names another one that threw it.
 */
export const blame = (contribution: object, wrong: unknown): Error => {
  const error = isError(wrong) ? wrong : fault(messageOf(wrong))
  const plugin = contributors.get(contribution)
  if (plugin !== undefined) blamed.set(error, plugin)
  return error
}

/** The plugin that is to blame for an error, where somebody has said so. */
export const blamedFor = (error: unknown): string | undefined => (isError(error) ? blamed.get(error) : undefined)
