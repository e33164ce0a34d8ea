import { WaybillError } from "@waybill/protocol";
import type { AttackClass } from "./attack-class.ts";
import { announcedBlobs } from "./attacks/announced-blobs.ts";
import { slowUploads } from "./attacks/slow-uploads.ts";
import { smallBlobs } from "./attacks/small-blobs.ts";
import { deltaFlood } from "./attacks/delta-flood.ts";
import { guessedSessions } from "./attacks/guessed-sessions.ts";
import { manyDownloads, slowDownloads } from "./attacks/downloads.ts";
import { badInboxes } from "./attacks/bad-inboxes.ts";
import { churn } from "./attacks/churn.ts";
import { compression } from "./attacks/compression.ts";
import { correlation } from "./attacks/correlation.ts";
import { costlyCalls } from "./attacks/costly-calls.ts";
import { creditGames } from "./attacks/credit-games.ts";
import { crowding } from "./attacks/crowding.ts";
import { deadLetters } from "./attacks/dead-letters.ts";
import { deepBatches } from "./attacks/deep-batches.ts";
import { deepJson } from "./attacks/deep-json.ts";
import { fewLarge } from "./attacks/few-large.ts";
import { finds } from "./attacks/finds.ts";
import { frames } from "./attacks/frames.ts";
import { fullDisk } from "./attacks/full-disk.ts";
import { garbageSignatures } from "./attacks/garbage-signatures.ts";
import { groups } from "./attacks/groups.ts";
import { hellos } from "./attacks/hellos.ts";
import { hoarding } from "./attacks/hoarding.ts";
import { hostileContents } from "./attacks/hostile-contents.ts";
import { hostileSchemas } from "./attacks/hostile-schemas.ts";
import { peerFloods, peerLists } from "./attacks/hostile-peer.ts";
import { inboxNews } from "./attacks/inbox-news.ts";
import { keySquatting } from "./attacks/key-squatting.ts";
import { listing } from "./attacks/listing.ts";
import { longQuestions } from "./attacks/long-questions.ts";
import { manifestFlood } from "./attacks/manifest-flood.ts";
import { manifestHistory } from "./attacks/manifest-history.ts";
import { manySmall } from "./attacks/many-small.ts";
import { massEnrolment } from "./attacks/mass-enrolment.ts";
import { meddling } from "./attacks/meddling.ts";
import { misaddressed } from "./attacks/misaddressed.ts";
import { notBefore } from "./attacks/not-before.ts";
import { oddJson } from "./attacks/odd-json.ts";
import { oddRequests } from "./attacks/odd-requests.ts";
import { outputSchemas } from "./attacks/output-schemas.ts";
import { pipelining } from "./attacks/pipelining.ts";
import { poison } from "./attacks/poison.ts";
import { polls } from "./attacks/polls.ts";
import { progressFlood } from "./attacks/progress-flood.ts";
import { proofs } from "./attacks/proofs.ts";
import { prying } from "./attacks/prying.ts";
import { questionFlood } from "./attacks/question-flood.ts";
import { rebinding } from "./attacks/rebinding.ts";
import { reconnects } from "./attacks/reconnects.ts";
import { reflection } from "./attacks/reflection.ts";
import { replays } from "./attacks/replays.ts";
import { retiredKey } from "./attacks/retired-key.ts";
import { schemaPattern, schemaUnique, schemaContains } from "./attacks/schema-bomb.ts";
import { silence } from "./attacks/silence.ts";
import { slowBodies } from "./attacks/slow-bodies.ts";
import { slowHeaders } from "./attacks/slow-headers.ts";
import { slowReads } from "./attacks/slow-reads.ts";
import { thousandMembers } from "./attacks/thousand-members.ts";
import { timers } from "./attacks/timers.ts";
import { tls } from "./attacks/tls.ts";
import { unfetchedDeliveries } from "./attacks/unfetched-deliveries.ts";
import { unreadAnswers } from "./attacks/unread-answers.ts";
import { unreadDeliveries } from "./attacks/unread-deliveries.ts";
import { unreadLedger } from "./attacks/unread-ledger.ts";
import { unreadHistories } from "./attacks/unread-histories.ts";
import { unverified } from "./attacks/unverified.ts";
import { repetitions } from "./attacks/repetitions.ts";
import { groupEnds } from "./attacks/group-ends.ts";
import { fullCapability } from "./attacks/full-capability.ts";
import { cursors } from "./attacks/cursors.ts";
import { impostors } from "./attacks/impostors.ts";
import { weakKeys } from "./attacks/weak-keys.ts";
import { wideJson } from "./attacks/wide-json.ts";

/** Every class of attack, with one program each. */
export const CLASSES: readonly AttackClass[] = [
  listing,
  manifestHistory,
  manifestFlood,
  schemaPattern,
  schemaUnique,
  schemaContains,
  hostileSchemas,
  outputSchemas,
  finds,
  costlyCalls,
  thousandMembers,
  massEnrolment,
  keySquatting,
  weakKeys,
  pipelining,
  unreadAnswers,
  slowHeaders,
  slowBodies,
  slowReads,
  silence,
  churn,
  manySmall,
  fewLarge,
  oddRequests,
  compression,
  tls,
  frames,
  hellos,
  reconnects,
  polls,
  inboxNews,
  proofs,
  unverified,
  garbageSignatures,
  deepBatches,
  deepJson,
  wideJson,
  oddJson,
  hostileContents,
  replays,
  misaddressed,
  meddling,
  prying,
  retiredKey,
  groups,
  progressFlood,
  deltaFlood,
  guessedSessions,
  questionFlood,
  longQuestions,
  unreadDeliveries,
  unfetchedDeliveries,
  unreadHistories,
  unreadLedger,
  announcedBlobs,
  slowUploads,
  smallBlobs,
  slowDownloads,
  manyDownloads,
  creditGames,
  hoarding,
  crowding,
  poison,
  timers,
  notBefore,
  deadLetters,
  correlation,
  reflection,
  badInboxes,
  rebinding,
  peerLists,
  peerFloods,
  repetitions,
  groupEnds,
  fullCapability,
  cursors,
  impostors,
  fullDisk,
];

export function classNamed(name: string): AttackClass {
  const found = CLASSES.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = CLASSES.map((each) => each.name).join(", ");
  throw new WaybillError(400, `There is no class ${name}. The classes are: ${names}.`);
}
