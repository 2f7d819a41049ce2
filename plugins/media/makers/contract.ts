/** Who makes pictures and speech for routes of a provider. Rules: docs/rules/makers.md. */
import { definePoint, withAnswers, type Point } from '../../../core/plugin.js'
import { makerAnswers, wrongMaker } from './maker-answers.js'
import type { MediaMaker } from './wishes.js'

/** Problems of what servers answer, for makers. */
export { makerErrors } from './errors.js'
/** The protocol that OpenAI's servers and many others speak: for both, for speech alone, an answer with pictures. */
export { openAiMedia, openAiSpeech, readPictures } from './openai-protocol.js'
/** For servers that know shapes alone: the one of theirs that is nearest to a size; undefined where any will do. */
export { nearestShape } from './shape.js'
/** Reads an answer whose long texts are pictures. */
export { longTextOf, readLifted } from './lifted-json.js'
/** What it gives. */
export type { Lifted } from './lifted-json.js'

/** Formats of sound that may be wished. */
export { soundFormats } from './wishes.js'
/** What is wished, what servers are asked, and what comes of it. */
export type {
  GivenPicture,
  Made,
  MediaMaker,
  MediaQuestion,
  MediaReply,
  MediaServer,
  PictureWish,
  SoundFormat,
  SpeechWish,
} from './wishes.js'

/** Everybody who makes pictures and speech, by provider. Whoever fills it says so to `RouteBackends` too. */
export const MediaMakers: Point<MediaMaker> = withAnswers(
  definePoint<MediaMaker>('media-makers@1', ({ provider }) => provider, wrongMaker),
  makerAnswers,
)
