import { defineErrors } from '../../../core/plugin.js'

/** Why a picture or speech was not made, or nobody knows whether it was. Models read these. */
export const makerErrors = defineErrors({
  media_unavailable: {
    status: 404,
    detail: 'No model route that this session may use has {capability}.',
    action: 'Go on without it. An operator gives a route the capability.',
  },
  media_route_unable: {
    status: 400,
    detail: 'The model route {route} has no {capability}, or this session may not use it.',
    action: 'Leave provider out, or name a route that has it.',
  },
  media_over_budget: {
    status: 429,
    detail: 'Nothing was made: {reason}',
    action: 'Go on without it.',
  },
  media_not_reached: {
    status: 502,
    detail: 'The server of the model route could not be asked: {code}.',
    action: 'Go on without it, or try again later. An operator looks at base_url of the route.',
  },
  media_refused: {
    status: 502,
    detail: 'The server made nothing. {reason}',
    action: 'Correct what it says, or go on without it.',
  },
  media_server_unwilling: {
    status: 502,
    detail: 'The server made nothing. {reason}',
    action: 'Go on without it, or try again later. An operator looks at the route: its address, key and account.',
  },
  media_answer_unusable: {
    status: 502,
    detail: 'The server answered, and what it made cannot be used: {reason}.',
    action: 'It may have cost something. Ask for less, or go on without it.',
  },
  media_outcome_unknown: {
    status: 500,
    detail: 'The server was asked and its answer did not come to its end ({code}): what it made, nobody can tell.',
    action: 'It may have cost something. Ask again only if it is needed.',
  },
  media_wish_unsupported: {
    status: 400,
    detail: 'Models of this route take no such wish: {reason}.',
    action: 'Ask without it.',
  },
  media_input_unfit: {
    status: 400,
    detail: 'Nothing was asked: {reason}.',
    action: 'Name assets that are PNG or JPEG pictures in image_asset_ids.',
  },
})
