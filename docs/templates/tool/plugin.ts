/** A tool that models may call: it counts how often each word occurs in a text. */
import type { Kit, Point } from 'holdfast/plugin'
import type { Tool } from 'holdfast/plugins/execution/tools'

const Tools: Point<Tool> = { point: 'tools@1' }

export default ({ defaulted, definePlugin, doc, integer, object, string }: Kit) => {
  const Input = object({
    text: doc(string({ max: 100_000 }), 'The text.'),
    most: doc(defaulted(integer({ min: 1, max: 100 }), 10), 'Words that are told, at most.'),
  })
  return definePlugin({
    id: 'my-plugin',
    version: '0.1.0',
    api: 1,
    summary: 'Counts words.',
    register(ctx) {
      const countWords: Tool<typeof Input> = {
        name: 'my_plugin',
        description: 'Counts how often each word occurs in a text.',
        input: Input,
        effect: 'read', // `once` if it must never happen twice, `idempotent` if `call.key` makes it harmless
        parallel: true,
        timeout_ms: 10_000,
        sandbox: 'read_only',
        async run({ text, most }, { signal }) {
          const counts = new Map<string, number>()
          for (const [word] of text.matchAll(/\p{L}+/gu)) {
            counts.set(word, (counts.get(word) ?? 0) + 1)
            if (counts.size % 1000 === 0 && !(await ctx.clock.sleep(0, signal))) break
          }
          const ranked = [...counts].toSorted((a, b) => b[1] - a[1])
          return { type: 'result', output: Object.fromEntries(ranked.slice(0, most)), is_error: signal.aborted }
        },
      }
      ctx.contribute(Tools, countWords)
    },
  })
}
