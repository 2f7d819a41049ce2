import { array, defaulted, doc, integer, isCidr, object, rule, string, type Infer } from '../../../../core/plugin.js'

export const slackConfig = object({
  allow_cidrs: doc(
    defaulted(array(rule(string(), 'must be an address range such as 198.18.0.0/15', isCidr), { max: 100 }), []),
    'Special address ranges that Slack may be at, such as the one a local proxy answers names from.',
  ),
  timeout_ms: doc(
    defaulted(integer({ min: 100, max: 120_000 }), 15_000),
    'Longest call of Slack and longest download of a file. Milliseconds.',
  ),
})
export type SlackConfig = Infer<typeof slackConfig>
