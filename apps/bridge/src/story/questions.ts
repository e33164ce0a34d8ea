/** The questions for the newsroom, with the answers if no real model is used. */
export const QUESTIONS: readonly { readonly question: string; readonly answer: string }[] = [
  {
    question: "What is a waybill?",
    answer: "A paper that goes with the goods: who sends what to whom.",
  },
  {
    question: "What sets a bill of lading apart from it?",
    answer: "It is a title: whoever holds the original may claim the goods.",
  },
  {
    question: "Since when do freight trucks in Europe carry a common consignment note?",
    answer: "Since the CMR convention, signed in Geneva in 1956.",
  },
  {
    question: "How many originals of that note are made out?",
    answer: "Three: for the sender, for the journey, and for the carrier.",
  },
  {
    question: "Which convention gave the air waybill its first rules?",
    answer: "The Warsaw Convention of 1929.",
  },
  {
    question: "Which ship carried the first containers of Malcom McLean?",
    answer: "The Ideal X, from Newark to Houston, with 58, in April 1956.",
  },
  {
    question: "Who patented the bar code?",
    answer: "Joseph Woodland and Bernard Silver, in 1952.",
  },
  {
    question: "What does the oldest known complaint about a delivery say?",
    answer: "That Ea-nasir of Ur delivered bad copper, around 1750 BC.",
  },
  {
    question: "Who paid for a letter before there were stamps?",
    answer: "Mostly who got it, until the Penny Black of 1840.",
  },
  {
    question: "What does FOB mean in a contract of sale?",
    answer: "Free on board: from there on it is the buyer's risk.",
  },
];

/** The model does not answer this one in time: it becomes a dead letter, and is asked again. */
export const SLOW = 7;

export const TOPIC = "Signed for: four thousand years of getting things delivered";

export function indexOfQuestion(text: string): number | undefined {
  const index = QUESTIONS.findIndex(({ question }) => text.includes(question));
  return index === -1 ? undefined : index;
}
