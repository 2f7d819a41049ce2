/** Whose fault a wrong answer is: who looks at it throws, and no code of the plugin that gave it is in the stack. */
import { fault } from '../../base/assert.js'
import { isError, messageOf } from '../../base/text/thrown.js'

const contributors = new WeakMap<object, string>()
const blamed = new WeakMap<Error, string>()

/** Notes the plugin that a contribution is of. */
export const noteContributor = (contribution: unknown, plugin: string): void => {
  if (typeof contribution === 'object' && contribution !== null) contributors.set(contribution, plugin)
}

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
