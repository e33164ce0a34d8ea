const MANIFEST = String.raw`[ -f agent.pem ] || (umask 077 && openssl genpkey -algorithm ed25519 -out agent.pem)
X=$(openssl pkey -in agent.pem -pubout -outform DER | tail -c 32 | b64url)
KID=$(printf '{"crv":"Ed25519","kty":"OKP","x":"%s"}' "$X" | openssl dgst -sha256 -binary | b64url)

MANIFEST=$(printf '{"waybill":1,"kind":"manifest","agent_id":"%s","sequence":1,"capabilities":[{"name":"shout","description":"Writes a text in capitals.","input_schema":{"type":"string"},"output_schema":{"type":"string"}}],"keys":[{"kty":"OKP","crv":"Ed25519","x":"%s"}]}' \
  "$AGENT" "$X" | sign)`;

/** The page's steps as shell commands. Each step continues in the shell of the previous one. */
export const SHELL: Readonly<
  Record<
    "tools" | "join" | "joinInvited" | "receive" | "answer" | "serve" | "handOff" | "result",
    string
  >
> = {
  tools: String.raw`b64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
unb64url() {
  text=$(tr '_-' '/+')
  while [ $(($(printf %s "$text" | wc -c) % 4)) -ne 0 ]; do text="$text="; done
  printf %s "$text" | openssl base64 -d -A
}
sha256() { openssl dgst -sha256 -r | cut -c1-64; }
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
soon() { # in so many seconds; GNU date, or that of BSD and macOS
  at=$(($(date +%s) + $1))
  date -u -d "@$at" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || date -u -r "$at" +%Y-%m-%dT%H:%M:%SZ
}
salt() { openssl rand 16 | b64url; } # for each envelope another
uuid() { # version 7: the time in milliseconds, then chance
  at=$(printf '%012x' "$(date +%s)000"); chance=$(openssl rand -hex 9)
  printf '%s-%s-7%s-8%s-%s' "$(echo "$at" | cut -c1-8)" "$(echo "$at" | cut -c9-12)" \
    "$(echo "$chance" | cut -c1-3)" "$(echo "$chance" | cut -c4-6)" "$(echo "$chance" | cut -c7-18)"
}
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }

sign() { # JSON in, the signed text out
  input=$(printf '{"alg":"Ed25519","kid":"%s","typ":"waybill+jws"}' "$KID" | b64url).$(b64url)
  printf %s "$input" > to-sign
  printf %s.%s "$input" "$(openssl pkeyutl -sign -rawin -inkey agent.pem -in to-sign | b64url)"
}
digest_of() { # of a signed text: of its key and its payload, not of its signature
  {
    printf '\000%s\n' "$(printf %s "$1" | cut -d . -f 1 | unb64url | member kid)"
    printf %s "$1" | cut -d . -f 2 | unb64url
  } | sha256
}
send() { # send METHOD PATH BODY [more for curl]: 75 is "come again"
  method=$1; path=$2; body=$3; shift 3
  if [ -n "$body" ]; then
    printf %s "$body" > body.json
    set -- "$@" -H 'Content-Type: application/json' --data-binary @body.json
  fi
  code=$(curl -sS -o answer.json -w '%{http_code}' -X "$method" "$@" "$HUB$path")
  case $code in
    2*) cat answer.json ;;
    000|429|503) return 75 ;;
    *) cat answer.json >&2; return 1 ;;
  esac
}
ask() { # ask METHOD PATH BODY: the same, signed as this agent
  digest=
  if [ -n "$3" ]; then digest=$(printf ',"body_digest":"sha256:%s"' "$(printf %s "$3" | sha256)"); fi
  proof=$(printf '{"waybill":1,"kind":"request","from":"%s","to":"%s","domain":"%s","id":"%s","at":"%s","method":"%s","path":"%s"%s}' \
    "$AGENT" "$HUB_ID" "$DOMAIN" "$(uuid)" "$(now)" "$1" "$2" "$digest" | sign)
  send "$1" "$2" "$3" -H "Authorization: Waybill $proof"
}
again() { # until the hub is there to answer
  while :; do
    "$@" && return
    [ $? -eq 75 ] || return 1
    sleep 1
  done
}`,

  join: String.raw`${MANIFEST}
again send PUT "/v1/agents/$AGENT" "{\"manifest\":\"$MANIFEST\"}"`,

  joinInvited: String.raw`${MANIFEST}

CLAIM=$(printf '{"waybill":1,"kind":"enrolment","domain":"%s","agent":"%s","kid":"%s","manifest":"sha256:%s"}' \
  "$DOMAIN" "$AGENT" "$KID" "$(digest_of "$MANIFEST")" | b64url)
INVITED=$(printf %s "$WAYBILL_INVITATION" | cut -d . -f 2).$CLAIM
# A list of processes shows the key for a moment. Use an SDK on a machine that others use, too.
MAC=$(printf 'waybill invitation 1\n%s' "$INVITED" | openssl dgst -sha256 -hmac "$WAYBILL_INVITATION" -binary | b64url)
again send PUT "/v1/agents/$AGENT" "{\"manifest\":\"$MANIFEST\",\"invitation\":\"$INVITED.$MAC\"}"`,

  receive: String.raw`INSTANCE=$(uuid); CURSOR=; mkdir -p answered results
receive() { # waits for deliveries once, and handles what has come
  again ask GET "/v1/inbox?instance=$INSTANCE&credit=1&wait_seconds=20&cursor=$CURSOR" '' > inbox.json || return
  # One delivery a line, without its brackets.
  tr '{' '\n' < inbox.json > deliveries
  while IFS= read -r delivery; do
    envelope=$(printf %s "$delivery" | member envelope)
    handoff=$(printf %s "$delivery" | member handoff_id)
    printf %s "$envelope" | cut -d . -f 2 | unb64url > payload.json
    case $delivery in
      '"type":"offer"'*) answer "$envelope" "$handoff" "$(printf %s "$delivery" | sed 's/.*"attempt":\([0-9]*\).*/\1/')" ;;
      '"type":"envelope"'*) keep "$envelope" "$handoff" ;;
    esac
  done < deliveries
  CURSOR=$(member cursor < inbox.json)
}`,

  answer: String.raw`reply() { # reply KIND BODY HANDOFF ATTEMPT DIGEST: about the handoff in payload.json
  printf '{"waybill":1,"kind":"%s","id":"%s","from":"%s","to":"%s","handoff_id":"%s","correlation_id":"%s","attempt":%s,"re":"sha256:%s","issued_at":"%s","salt":"%s","body":%s}' \
    "$1" "$(uuid)" "$AGENT" "$(member from < payload.json)" "$3" "$(member correlation_id < payload.json)" "$4" "$5" "$(now)" "$(salt)" "$2" | sign
}
answer() { # answer ENVELOPE HANDOFF ATTEMPT
  # Signed for the hubs of another custody domain: it is not theirs to offer, nor yours to do.
  [ "$(member domain < payload.json)" = "$DOMAIN" ] || return 0
  offer=$(digest_of "$1")
  # Accepted: from here on the delegator knows that somebody is at it.
  accepted=$(reply receipt '{"status":101}' "$2" "$3" "$offer")
  again send POST /v1/envelopes "{\"envelope\":\"$accepted\"}" > /dev/null || return
  # The work itself.
  output=$(member input < payload.json | tr '[:lower:]' '[:upper:]')
  result=$(reply result "{\"status\":200,\"output\":\"$output\"}" "$2" "$3" "$offer")
  again send POST /v1/envelopes "{\"envelope\":\"$result\"}" > "answered/$2"
}`,

  handOff: String.raw`HANDOFF=$(uuid)
TASK=$(printf '{"waybill":1,"kind":"handoff","id":"%s","from":"%s","domain":"%s","to":{"capability":"shout"},"handoff_id":"%s","correlation_id":"%s","issued_at":"%s","salt":"%s","deadline":"%s","body":{"capability":"shout","input":"hello from curl"}}' \
  "$HANDOFF" "$AGENT" "$DOMAIN" "$HANDOFF" "$(uuid)" "$(now)" "$(salt)" "$(soon 300)" | sign)
again send POST /v1/envelopes "{\"envelope\":\"$TASK\"}"`,

  result: String.raw`keep() { # keep ENVELOPE HANDOFF: what others say about what this agent handed off
  case $(member kind < payload.json) in
    result|notice) cp payload.json "results/$2" ;;
    *) return ;;
  esac
  thanks=$(printf '{"waybill":1,"kind":"receipt","id":"%s","from":"%s","to":"%s","handoff_id":"%s","correlation_id":"%s","re":"sha256:%s","issued_at":"%s","salt":"%s","body":{"status":200}}' \
    "$(uuid)" "$AGENT" "$HUB_ID" "$2" "$(member correlation_id < payload.json)" "$(digest_of "$1")" "$(now)" "$(salt)" | sign)
  again send POST /v1/envelopes "{\"envelope\":\"$thanks\"}" > /dev/null
}
until [ -f "results/$HANDOFF" ]; do receive; done
cat "results/$HANDOFF"`,

  serve: String.raw`until [ -n "$(ls answered)" ]; do receive; done`,
};
