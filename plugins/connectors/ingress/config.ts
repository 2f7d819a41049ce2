import { defaulted, doc, integer, object, type Infer } from '../../../core/plugin.js'

export const ingressConfig = object({
  events_per_second: doc(
    defaulted(integer({ min: 1, max: 100_000 }), 1000),
    'New messages of all connectors a second, and as many at once; each connector has its share whatever others send.',
  ),
})
export type IngressConfig = Infer<typeof ingressConfig>
