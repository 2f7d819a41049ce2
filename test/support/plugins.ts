/** Plugins of tests: a name, and what they do. */
import { assert } from '../../core/base/assert.js'
import { definePlugin, type AnyPlugin, type Plugin, type Token } from '../../core/plugin.js'

type Tokens = Readonly<Record<string, Token<any>>>
type Rest<N extends Tokens> = Omit<Plugin<N, {}>, 'id' | 'version' | 'api' | 'summary'>

export const testPlugin = <N extends Tokens = {}>(id: string, rest: Rest<N>): AnyPlugin =>
  definePlugin<N, {}>({ id, version: '1.0.0', api: 1, summary: `The ${id} of a test.`, ...rest })

/** A plugin that lends a test its context and the services that it needs. */
export const lender = <N extends Tokens = {}>(needs: N) => {
  let lent: Parameters<Plugin<N, {}>['register']> | undefined
  const plugin = testPlugin<N>('lender', {
    needs,
    register: (...given) => {
      lent = given
    },
  })
  return {
    plugin,
    context: () => {
      assert(lent, 'the lender was not loaded')
      return lent[0]
    },
    services: () => {
      assert(lent, 'the lender was not loaded')
      return lent[1]
    },
  }
}
