/**
 * The contract a plugin author reads. A plugin is a value: it says what it
 * needs and provides, declares everything in `register`, and works from
 * `onStart` on. See docs/plugin-guide.md.
 */
import type { AnyPlugin } from './plugin/contract.js'

export * from './base/schema.js'
export * from './base/parse.js'
export { passing } from './base/foreign/passing.js'
export { plainCopy, plainObject } from './base/foreign/plain.js'
export { unknownField } from './base/issue-rule.js'
export { bytes } from './http/routes/bytes.js'
/**
 * The JSON of a platform, as the body form `lenient` reads it: for bodies that hold it in something else; and what of
 * JSON may be read in two ways.
 */
export { givenTwice, readLenient } from './http/server/json-text.js'
export { foreignSchema, fromJsonSchema } from './base/foreign/foreign-schema.js'
export { defineErrors, Problem } from './base/errors.js'
export { innerFolder, isThere, realFolder } from './state/disk/outside.js'
export { findOutside, readOutside } from './state/disk/outside-files.js'
export { openOutsideLines, type OutsideLines } from './state/disk/outside-lines.js'
export { watchFolders } from './state/disk/outside-watch.js'
export type { FolderWatch, FolderWatchParts } from './state/disk/outside-watch.js'
export type { OutsideFind, OutsideText, OutsideWish } from './state/disk/outside-files.js'
export { openWorkFolders, type WorkFolders } from './state/side/work-folders.js'
export { openFollowedFolders, type FolderTexts, type FollowedFolders } from './state/side/followed-folders.js'
export { lookInFolder, makeFile, type OutsideFile } from './state/disk/outside-folder.js'
export { codeOf } from './state/errors.js'
export type { Disk } from './state/disk/disk.js'
export { checkList } from './host/configuration/check-list.js'
export type { ListFault } from './host/configuration/check-list.js'
export { tomlOf } from './host/load/toml.js'
export { digestBytes } from './state/side/blob-pieces.js'
export { filesNear } from './state/side/near-files.js'
export { readGivenBytes, readSecretFile, secretFiles } from './state/side/secret-file.js'
export { keyId, keyOf, nonceBytes, openText, sealText } from './base/text/sealing.js'
export type { Sealing } from './base/text/sealing.js'
export type { ProblemFactory, ProblemSpec, Occurrence } from './base/errors.js'
export { assert, assertNever, fault } from './base/assert.js'
export { bytesReply, committed, defineRoute, jsonReply, textReply, streamReply } from './http/routes/route.js'
export type {
  Access,
  Admitted,
  ByteParts,
  BytesReply,
  Caller,
  Committed,
  IngressHead,
  IngressScheme,
  Route,
  RouteInput,
  StreamReply,
} from './http/routes/route.js'
export {
  boundedPage,
  clampLimit,
  latest,
  pageFields,
  pageOf,
  paginationOf,
  decodeCursor,
  listPage,
  collectionSource,
  arraySource,
  pageProblems,
} from './http/routes/pages.js'
export type { ListReply, Page, PageInput, PageRequest, PageSource } from './http/routes/pages.js'
export { filteredSource, holdsText, searchText } from './http/routes/filtered.js'
export { idempotencyKey, IdempotencyKey } from './http/routes/idempotency.js'
export { idempotencyErrors } from './http/errors.js'
export { canonical, digest, fingerprint } from './base/text/canonical-json.js'
export { sliced } from './http/routes/sliced.js'
export type { Sliced } from './http/routes/sliced.js'
export { createUnreadable, viewsOf } from './http/routes/unreadable.js'
export type { Skip, Unreadable } from './http/routes/unreadable.js'
export { defineDeltas, defineEvent } from './events/contract.js'
export type {
  DeltaLoss,
  DeltaPiece,
  Deltas,
  DeltaSpec,
  EventSpec,
  EventKeys,
  EventFilter,
  PublishedEvent,
  Events,
  WrittenDelta,
} from './events/contract.js'
export { StateFinding } from './records/findings.js'
export { createRings, ringIndex } from './records/rings.js'
export type { InRing, Rings } from './records/rings.js'
export { RetentionReport } from './retention/report.js'
export { StorageUsage } from './retention/usage.js'
export { showDay, showSize } from './retention/amounts.js'
export type { Clock } from './base/clock.js'
export type { Ids } from './base/ids.js'
export type { Log } from './base/text/log.js'
export { tellFailure } from './base/text/tell-failure.js'
export { isError, messageOf, thrownText } from './base/text/thrown.js'
export type { SecretFault, Secrets } from './base/text/secrets.js'
export { afterlifeMs, createAfterlife, type Afterlife } from './base/text/guarded.js'
export { anyOf } from './base/text/shape/pattern.js'
export { comparable } from './base/words/comparable.js'
export { tokenMark } from './base/text/short-lived.js'
export { frameTags } from './base/words/frame-tags.js'
export { givenTime, latestTime, showClockTime, showTime } from './base/time/moments.js'
export { namedLine, visible, visibleBlock, visibleLine } from './base/text/visible.js'
export { wrongToo } from './base/issue-rule.js'
export { nearest, nearestOf } from './base/words/nearest.js'
export { hintFor } from './base/config.js'
export { beginningOf, wellFormedJson } from './base/text/well-formed.js'
export { secretsInAddress } from './base/words/in-address.js'
export { secretsInArgument, secretsInArguments, secretsInCommand } from './base/words/in-arguments.js'
export { valuesNamed } from './base/words/named-values.js'
export { isSecretName, tellsOfSecret } from './base/words/secret-names.js'
export { looksSecret, redactPii, redactingPii, redactSecrets, redactingSecrets } from './base/text/shape/redact.js'
export { redactedAsRead } from './base/words/as-read.js'
export { lastLines, toldLine, withoutSecrets, withoutSecretsInCode } from './base/text/told-line.js'
export { redactedTo, redactingTo, withoutCutWord } from './base/words/redacted-to.js'
export { cutDeep, isModest, isShallow } from './base/text/nesting.js'
export { createPause, createShare, createTurns, inTurns, type Portions } from './base/turns.js'
export { timeKey } from './base/time/time-key.js'
export type {
  State,
  Tx,
  Collection,
  CollectionSpec,
  IndexSpec,
  Stream,
  StreamSpec,
  StreamEntry,
  Document,
  Blobs,
  BlobRef,
  OpenBlob,
  Spool,
  Spools,
  SpoolAccount,
  SpoolReading,
  PageQuery,
  Sieve,
  StorageHealth,
} from './state/contract.js'
export { Metrics, uncollectedSeries } from './metrics/contract.js'
export { distributionsOf, samplesOf } from './metrics/series.js'
export type { Metric, Sample } from './metrics/contract.js'
export { createCount, createMeasure, gauges } from './metrics/instruments.js'
export type { Count, Measure } from './metrics/instruments.js'
export { backoff, chance } from './base/backoff.js'
export { createCache } from './base/memory/cache.js'
export { Transients, TransientsByKey } from './base/memory/transients.js'
export type { Cache } from './base/memory/cache.js'
export { childEnvironment, secretsPassed } from './base/text/child-environment.js'
export type { PassedEnvironment } from './base/text/child-environment.js'
export { version } from './base/version.js'
export { within } from './base/within.js'
/** Whether something is the name of a time zone. */
export { isZone } from './base/time/zone.js'
export { defineCommand, secretFlags, withMembers } from './plugin/command.js'
export { isLoss, watchFlag, watchStanding, type Standing } from './plugin/watched.js'
export { ofFile, showWrong, withWrong, wrongField } from './plugin/wrong-entries.js'
export { cursorFlag, listedRows, pageFlags, readRows, searchedRows, showRows } from './plugin/listed.js'
export type {
  Client,
  Command,
  CommandFlag,
  CommandInput,
  Dialogue,
  Frame,
  Hearing,
  HeldFolder,
  Lasting,
  NearDaemon,
  Said,
} from './plugin/command.js'
export {
  commandLine,
  count,
  cutAtWord,
  idWord,
  sentence,
  shellWord,
  span,
  wholeSpan,
} from './base/text/command-text.js'
export { beginning, createFlow, folded, foldedBlock, widthOf, type Flow } from './cli/screen/folded.js'
export { errors as commandErrors } from './cli/told/errors.js'
export { outline } from './cli/told/outline.js'
export { defineToken, definePoint, hasMembers, withAnswers } from './base/token.js'
export { asItIs, awaited, awaitedByCaller, refusing, refusingByThrow, yesOrNo } from './base/answers.js'
export { answerOf, taken } from './plugin/answer-of.js'
export { blame, contributorOf, isOfOthers, refuted } from './host/context/blame.js'
export { freezeOnce } from './base/foreign/frozen.js'
export { checkDone } from './host/context/own-observers.js'
export type { Answer, Answers, Mind } from './base/answers.js'
export type { Token, Point } from './base/token.js'
export { Processes, Supervised } from './processes/contract.js'
export type {
  Exit,
  Program,
  ProgramEnd,
  ProgramWish,
  Stopped,
  SupervisedProgram,
  SupervisedWish,
} from './processes/contract.js'
export { findBubblewrap } from './processes/bubblewrap.js'
export { Sandbox } from './sandbox/contract.js'
export { sandboxErrors } from './sandbox/errors.js'
export type {
  Job,
  JobFamily,
  JobInput,
  JobLimits,
  JobOutput,
  JobProgram,
  JobResult,
  Refuse,
  Walls,
} from './sandbox/contract.js'
export { createCapture } from './processes/capture.js'
export type { Capture, Captured } from './processes/capture.js'
export { Host } from './host/contract.js'
export { isPluginFailed } from './host/errors.js'
export type {
  HostView,
  PluginReport,
  PluginFault,
  BootReport,
  BootStep,
  LockReport,
  ControlPlaneReport,
  TokenFileReport,
  Unready,
} from './host/contract.js'
export { warningCode } from './base/health.js'
export type { HealthCheck, Warning } from './base/health.js'
export { createOutbound, outboundTarget, refusedUrl } from './http/outbound/outbound.js'
export type {
  Outbound,
  OutboundAnswer,
  OutboundFlow,
  OutboundFlowRequest,
  OutboundOptions,
  OutboundReach,
  OutboundRequest,
  Resolve,
  ResolvedAddress,
} from './http/outbound/outbound.js'
export { createFetch } from './http/outbound/fetch.js'
export { unsendableHeader } from './http/outbound/unsendable-header.js'
export type { Fetch } from './http/outbound/fetch.js'
export { retryAfter } from './http/outbound/retry-after.js'
export { outboundCodes, outboundFate } from './http/outbound/outbound-failure.js'
export type { OutboundCode, OutboundFate } from './http/outbound/outbound-failure.js'
export { isCidr } from './http/outbound/address-rules.js'

export type { Observers } from './plugin/observers.js'
export { defineList } from './plugin/list.js'
export type { EntryChange, List, ListChange, ListSpec } from './plugin/list.js'
export { definePlugin } from './plugin/contract.js'
export type { AnyPlugin, Plugin, PluginContext, RepairStep, ShippedPlugin } from './plugin/contract.js'

/** What a plugin without a runtime import of ours receives when its default export is a function: this module. */
export type Kit = typeof import('./plugin.js')
/** What a plugin's main file exports. */
export type PluginModule = { readonly default: AnyPlugin | ((kit: Kit) => AnyPlugin) }
