import { array, defaulted, doc, integer, isCidr, object, rule, string, type Infer } from '../../../core/plugin.js'

export const telegramConfig = object({
  allow_cidrs: doc(
    defaulted(array(rule(string(), 'must be an address range such as 127.0.0.1/32', isCidr), { max: 100 }), []),
    'Special address ranges that an api_base_url may lead to, such as that of a Bot API server of your own.',
  ),
  timeout_ms: doc(
    defaulted(integer({ min: 100, max: 120_000 }), 15_000),
    'Longest call of the Bot API but for the wait of a poll, from the lookup of the name on. Milliseconds.',
  ),
})
export type TelegramConfig = Infer<typeof telegramConfig>
