import { defineErrors } from '../../../core/plugin.js'

export const deliveryErrors = defineErrors({
  reply_target_invalid: {
    status: 400,
    detail: 'A reply target cannot be used.',
    action: 'Correct the field that errors names.',
  },
  delivery_not_found: {
    status: 404,
    domain: 'deliveries',
    detail: 'There is no {sought} {delivery_id} here{or_fell}.',
    action: 'List the deliveries with GET /v1/deliveries; only dead-lettered ones can be replayed or resolved.',
  },
})
