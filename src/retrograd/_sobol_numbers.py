"""The direction numbers of Sobol sequences: primitive polynomials and initial numbers of S. Joe and F. Y. Kuo (new-joe-kuo-6, 2008), for the first
1111 dimensions. Their licence allows use and redistribution;
the whole table, of 21201, is on the page of F. Y. Kuo.
"""

from __future__ import annotations

import base64

# How many polynomials there are of each degree, from 1 on; those of the last degree are not all here.
DEGREES = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630)
DIMENSIONS = 1 + sum(DEGREES)

# For each dimension but the first, as bits: the inner coefficients of the polynomial, then the initial numbers m_2, m_3, ... without the ones that
# all of them end in. m_1 is 1. A one is in front of everything.
_PACKED = (
    "9grl=i6}&g-J3u(73{n=9vVF=6K*Csiqo?)l=vTP`HAx$A<j6yMu5hSnIo!kZ;w@3qt0R`iT8mZLDMDKOvfos)&}b3x<*izqTMTi+%_Kfw;RlTQ0)QJ`Iz)q"
    "f9vcEN~N3PX?C%MUi}t=%z4Maos<$#b2L&^bmty~EV&MsB<SOM^XzRx75H$%4b{sT`-CKqoLm2OdMRquAdI;S*6$6pL9jw00HS4rs}_q6dq0tpRS&dVEL9zc"
    "J5u%L$^*YN@6$|1<8W;I?<qT5&e+8R<Fe_ifI}9w_sJxuRBk7sQA!O!6cs0|aDDAp!72=(RkOUqfAe0Tzhcw&azQ@7c4$uCmzf6DV_jSIdI$_QipRsloP!XF"
    "l<P)yc&Ht({}_+QeWh866hJO~N|-3PIAr<JOu9yJr>lG8D0<x&44pZ!V(s!h8&a%VHYK)v%L~pco>0e);J=<`n!tP@0uo5Q$DQhMZyly(wL#b1q@rFL?mE$_"
    "os{J<P&b6`Z}W&=YU*J(B9_j}rKPxh@y6;8?*BxTOFC@*ucU+2kR;?JxVO1MtrXw>hVu!=gRkRctSoX|J{G63m(pPnf?NjqPeUm`QXnJ$9IHMkisMWY{{=%7"
    "bc_V&@eO<n<8GusIjSC|+b*2*a(I>k;S>9A=hx^ukkVlzIMl#KZTHCFnyDgB^Xk^oG{+6dXK>h4!O^r?t>RFr8ClwK8CTm{(1;f$uNTN;CC6As#qMi%PGi)n"
    "RLZ9%mW%HsJadMIfU}F%N?d)G4x2+Jc~(^X^c9)++%KdkABXA7GP9nhAtrEdF6JbKNDk;$;szx(PwhK)nA<V_Rt#XIKP)n8J|vT*+<qR>Vp?AQ;`$F6;TGU8"
    "i~{H9=EP*%FQP_iXYL|qwN7k=wE!Cc*oX^vv#l-eF`(6Jx8Y(`qwcc(TKP41`W#v8GlBkdaoiKvoxJ+U78Mdn%)2>p1HC+dO&Ls(e3I#O-GXiTWhT`K4BHf2"
    "H(5RL*lXfliu|PiU#qv(O`ev=>f>yl)-o^ylP<ERlU|<1vOag$1%0km{S_0>{JivE%)4v&8H9E@mT(IF#}7^fCr}sYuDXYB5sVdF(YGa&QsfIPs4^Z*TFeOG"
    "4@0ecu{MS;L<HTeY|+CbbR(`V*g=8Ec~1!4FK|%y#fsUU0D$O?800$xUU0BVD?!IOTiaYG-;N9VF8B8pAYyHUL|z074hYUDhofvpcQYRBIO7dtLpF6`HYnU7"
    "z?ReRd#rV+=6SkTYhB^&br)H*xKWL?J$^!JKrO27A-GD%$vR)kkvCuh8`iE5$sjI5Zie7#M4>+BM9sxLf_I|X1p8_C;XJ@aal1@h#G+-EtU59&gi>;hv}Uoj"
    "04fS+cakWb{*}1*1`wxlfXkY>SB-zE-=){+B9V`HC4&EF;tRQUBYA>6SNr58h+xMa##S;^mP%^;^D0pV$e%U6vt+U=2C<u;%WBKGFzn7ad4){{FN{ZHT3Q)$"
    "RCKe-EEE_8BWyAE5}$<GwYaSSF?HQhw4wZgfV1K%lC>#9eMDp!p+&JFP*r&dam7%PMp2z&Pj#KCB#Ngq`AoCq!M)oX%LP};Y>d%kJLy`LJeVQWdBW^4pSDGT"
    "h2rw=P@t&ZfW#LysR|6QrgGG5RO^C9-YBWCN|~YTdTV(Bg;YHLG@h}M+On$Ev;=6<AzDcTm)jNYO0^GPsffken_Je>cvb$&NG_3TNZw5yu-9~3zkOke?2E<h"
    ")*4}XSC#jBsx5c#qw@o;1cHAIw8eyZ-@t&k@5;nJCq8DFocm^6mKRs^oAER1Q+(cpD_0r>kvg%TzgtZyGQe3X+XdFJhFwdfO#qW#J~D6A-I!srG91}=^vCqu"
    "+20YLr&jrIzc<-l;Zl^ie_*4|`nOXYT4|Dz4^U(-NQwvn0;v$UDH$;ZZ(c?Fud@=VKA4!<+kmo^1{9|D?;kvN*Bx{Cc{tKRB8a>)J+u1B1?3_`UgwnXDO}UD"
    "@1AG51IxerhucF^!SR?0R13|TP2c;O;s!J`CBY9pp$1t!D4j@1M}ye-6HMxQpT%I2ol|12_2U4fEkZEYy>YC`OIj-o6Nu##$1sS_aGZqHRdU}E73xIZz3unF"
    "dUqxH0~X==Q_quDQixzUe8tJb{RXEH)(0h=bZF=xLRS*}-j<`GfgkCO?-w%>`^mh_t|Z~|opW|+s*C!L@M60)8;`(C4jEvaQu524i*@}@f}+mnG6=gTwN|_I"
    "nS#!=3qY-TRrH3+98p)$a;0|l9g<B27(}*KlWf55_((_POG1mP(7F&9s5O;{4LK|C)Nwe9XdJ16DxeAwDmSnl^<Zfkm8GZyD#bVhIF<6VHE(^&tB&yXwz!P<"
    "yJ-g4^JKdkM`RAGL9^r!)*zBK5ZZ*T068XufUVRv+fdDES2p&!74OuvHT#iz1>bAUo1NEaj#;yYlh*C2NtF&RL@Rg@_Wm-BuO7VX2tJUJRi@utJlg6^F?O&e"
    "y%+{-OL%y50V`K-A7flY%od1>I`+;d@6>Gpzr*Vld?0^C2kC>1)LKHv+~>o`9Y1zIkmc0mYsi|&ow|fFUji(+d}==#R&}JNovRbPzc+r!zU4h$aYjZ6IW`0D"
    "J?>yE!D-?1pH!hacbGw6&=0L^X9u6RX(iQ}lCGXDH1N#B`G&^&+KE#K9PYytop!;QhnFnSX3xpXS%7G4TW)0OX+(#l-Mpw{(MC%wjo%#IoSB2d?Qp2(bw88J"
    "W%$NV#F^xkp?t>|ohCb)`MzweT;@H(-alL_-MC)=J8QK+b8w3r?u*+(0iEB-A@S~jdaNN&%*Xg3?kpYS$o%|*NV0<z)TTaMC&b>sBTwHp-CrD+Qlb~8a(^V;"
    "B|@Xt<a)LjCV83dVyTUAuCTcIyqIz&;=VooI+RMA&-R8tE^zxPE)hy!rev$3A(Y%OQrP#(5!rpyo&!h*`PIId3xen#-*DCr<9S$sp!(C+RQ7T+pJEA$zf=;3"
    "p`FLzXm+q()Bgl0FaxgVezpr+b28i@-QHTPpd&pWaUN^Qt*jkR*QE&@Sf+_%VmwhKPQpM+ws-v$8G@cScdOsmTpxfHdsi6|{$Y@un6Mv`8c8@BOSna<%^q)_"
    "!q#SdFsijL_V<|=i9xexYs`pd1Qy?p!1~_=G1!`fuy@GEhS9Q0jKE|X!if4N1#A6vBX;jNdb2?ih$$XDQ4aC?K~J5Dn3(OSiNF!o;7&*{$|sIk9+i@Q4GC(O"
    "kPkkA6~jgyqJHACOHi;a=O7=*c~^9$m)L}frB5mZlrZk3PwQtxFH#|nzt|EH0I{|FOo66^mD3-uYiMU5GwXRX0eou{Ke2m)QcOVL3Yua1x{p&NlE?Vm3?M~w"
    "32XITCo-0V*wYQ#k1IMm9zC1yRAx+})Zcy8<-OWz`j8lZ-@4&04fGC%Fe&n}@px<X6gCmv*~HD|cUz)zl|-clmEvW+7h@(-6B!?H$mq{Gsf7gqxxH^kQcbsE"
    "l*c(TN>d`w1Hs>8JsMK6aBX=K#ORqino_P8kNAuA`4tZ==zdLiC2Y;8?l>e-(2Jr%eN#;YUKOwp$U^HUIg@l{kBY>LTw5yM%>cYi*23$;<T6@Ux<jPbaDcWT"
    "cEj75;=N+NvPQ19Hj9P{MxpiuZ{HA^GBhdTwtHrAkolD#WDi8JEJ<msv7$;`pAk`Pf@(n*!ucH6D&~t`6zqy$$Y338+*a!`&%uEPF}&j`-?df5KL#1sLUEUy"
    "YduZyUpgsR`luR7@10rQT%y~^3-F;;&l1|n7B9M!znFU3YbwBx9+a-j+0}_ar2gPq+TQs);eTPNqJnz(FHT;gM&3T7s8*-V(9`)jvS32$wA#kg>VCOGBv_32"
    "Uhal&H1RF?MJ;nt%{vi`hj)@uU2C<Tly~>c>S&2P@V}&MY=Z_asS4G>Cc7-8#kiP#(78c0v{Xw@`9CL1E3H|{q2oIuc3#6^Jn3`*7LD^41Fpwh!k4V5n-PB)"
    "-y8Y?O7z}BblC9psqR*%C4~vUYU0+@`#Jprca&>ws_j|kTTQw8V~p!x(9){xof~GlA@+*%?4iz4-EtgsWe*NYd)~XuSf-SuwV=xTU-hj;@EY^CK%HOzD?)(v"
    "jNC~}`u$uw@v!gCPnLnI^uk;X_ZB>b-&kB~TZr+v%9XCf*9B$Q8Gh>S);&v}Hmcr1i^a8Z_76wt2i$FS$W(<T>Hy@Y%&wa4Z?oL9$<x<&>dv4&-<QzTtHHMT"
    "w<FBy_j%r*%eg2Q@v@lf0W0TBVzcp-r&u9LHS0ge_07A%X?=t^T9={nJ`<)-#n#8A1mSTp4Cf-hn2^Yakmpgg|D*`LV*H<d7)#b_5MWbfFHS`}$R}s0TP~*%"
    "=aNw`^$~fAa>Ubb*dGDd%$%O;DP;%NSx#pnt;nW79xdDR$#p)jstFA3S)j%TxrNO@Tc8~y%DH+3Z5?oJY8F(ApiTgDrf*aQM?I91R6kOhwT%G0o-6>W;n!Rd"
    "<hH;Yr~t;orb5`IN?wW)HXz2RkllEv$mhbFrI1#uOmt}88I}r$PJ~j<0&#O*ZGr2*M}EtZKAfRDTVST}{GlneBia_K@{8tu0h^<<lOx~1IjllPAu^%p-8wm4"
    "TIfhBW{EM}Y@$p9h^LyxpAf^25)2234oLXfL+c=fr8N(C$;~(fDtW0%v3}!JalBug74EV5gcxRz6@|M;Z`}!3TpUe6!H&N6q8kEm9&YB#`6TCX9D-sY^Dqq("
    "lAOF()jD_8NCfyetU&DHm$dTP0ibhfCsX3XA|3lcr(!cywuCySH2m-~yLoxN)7O~Sj}Q&yC~QQ>I#o*qwFFfT3X?0xr@J$L!5R-b!)gZ)YzR*PPf(Ae-t>k^"
    "5F{uRwfo?&0K)_nR$~Qn;5i#BooQ;-R{?h;P@ShDQAj$$FkUeP-cLPDPj(-y7*zDS4%K}lz)L9xOYh|I!Oos&Go``8D`VcRb?*-U%20Vgn?k6N!0VeyR3VeS"
    "RM-CtJR&by2&xfM?Hze+z6gqfQwE_i<d}b(e~ECH{)|=@wsH#wQb;F3?5=SRKI^nW4hkF)+*jWmsUO<vg3MT=OXVakJWooHwZ_U{GU{r^!+tO?8IFx<8{ftb"
    "Lstw+zqDq0hCzqO;=?bfFp0tofD}=~u+I4O^nhe^vUXPJH`(;XuwA*?6$r5o05FB{z?~(%MiK*#LXrKo#P`7EPSED%E2WSlgC5={I6KJe9X=HHahi9c4-)ZS"
    "9O*=?>*JEc;uVi?N<A`<6NVuD4cX^V$D3&1PjEv85s?nDU|;=J1`#jx*gYVqyJ`zF#BY-XVrZ|$LRM5k9>e4+HAHAr+c#85Plr;1Ca1N1KOz#+D5@`ZT5+|#"
    "Da5<p=J$FD33K87VLT>I+M6$;g1xf<PvYpvEShV4weRQ@M5STk;8ZNu&?iMNL;p++GTs${F;Pty#%EVD6Yi@_AXZwDuT~WEOp&|D74#1ctTwmW`11?Jm@x2+"
    "z<L)Yw_IU&S`{gW|Llnhi7;N_W2x<>nIe!?B^Tc7w#x5es*(>41_@o!T3E8{J0b`1lO-VN8V~?vjsH+(XyFkUXWr5ZH;EcJl_jiKD+*SC>jtQH&1C)NH1hr1"
    "p{zBxEy2L|eE@ElZPGmpv8$x!aJm~CilbTmxWiI?3M$6?V40n0FhlMW$Kk_g#9-<s1t1UPz;Ty$j;Y-9m~4d}9I8<~21F?Vmm9B#Mio#jGz)Ul&Ihs7W)<<W"
    "772kOM(lPn;^)26fFTU>h#k8?fnIg{)juF_2Y1U!HsP5$uJfWH@aL>TF49#CP&<%)x!EX@`{-+;zh@uDgmuS|d#87Y0LT<#u@u7m?1S6Yf(ew=n6{?16#+qr"
    "gYO=B2s+2=P5@pZBA0x`bf`U+LgL6#{;(b?6fSjwXc8VxpF>76K*Fl0{E9stiahC8JUL{^BC`9BS=N(_4>1kM!&}BtDpW8lYVpE0nxfiplr$epcT|t<LSIj5"
    "X()e@EhG^C(;)PuD>Ci|NjEx`cjnw*ah_4qPEsz5AS|?mpZSQEky!DL;?UtO|2!r5lhn?`xcX3*9*KilPW&&;uaRczf@77wi}sB9^?4g)nS9}kM4~fkWPEfd"
    "A8;w*^$RqAYGg_i_7pMBpOgnLvGR-Y5?17!>Z=q)n4^lTwAxoEASKU?DGyQW75t&bbn<43S%0JMG3{!F4Wv?>8Z?U$!_B7e)*PyRyo?ZG!1-VZn<}jC78K77"
    "D~PbV3dFE6!JqEIHp4dpxUG+M`K^-Tf*07X_9X45w?^Mw9~&$=v^~!980vm(M~fHGU#$byWJ`B*BFd{v@EqeG`)StzvnhOeJ<=X9eK4Rb@{;v{8T{k1e<({|"
    "z=d%-uGSHf)dJp{ZGRBzl>4Y+#JHM2ppSMjN8jy_E^(4Yq6TN&X;^EEuI*6W4KRgd#Ug_BcFa_k=#WWOF$}<4#*SIUCK9DK^)Mvc7}IeB76>o#Od#(ep!u#C"
    "UR4337J{jTC0x==3lZqY<%%72u2*iWo0T$A6BcI7aRbi;oeZaxt&#P`Gi!lxb1c|c?$J|w9ZPQf%@;kvovAlLr>vnfziWrvuhuy2Cw@%#T>(Y#SNPyLcH={V"
    "mtAG4u665gaMD_eq<Us;z5%c~G|%(ihjypj1ElUvVXox8imRf2{FM`17ZS(>kb8ee1mM@Y<MUq?haEW*PBt9iV&E)1qaBtw&DK-kZ?bzcu+03EdRo8FM?PlL"
    "##5}~RThr7@=t2{McO$-Xq!x)g(V*SU5<9-=boE(FByy7v!@f4i5tH8N&ff*>cmtKz_5m$_Xb)z;p;a1<;X8mVEzu*OLWGu@BCyvGUK@`gsZ@fZO7R&;O`4R"
    "EZXNl7KF&;JQGiJJ;EaR#`NEhBm70wzU<gS;WE?E8NN3QDCi;m9i;aS2kRp*z<pg%Gd?yi>|j<#0h2=H&y|1$Nun!7a%+sU?^OIFz{QoKGQA}I-dziwAk(R#"
    "#3Da~b!3E;Mck3Y9#9Uauq7r1d|tw*Bn-JFJLnk1KmSHC1M~fdBDbKER{MxS7sY^D20W<IccPGEDAWMNBy~!VNOT>qZ-zzH06x8a*$0ZU14wuizjih5LMfiV"
    "Um-+b@n(>a%xu=AB~O<OTpUz7!sSqgdJ36tsGSg-&N@&Y?z^_F#zk5gpRSCVHnCqB5m_GG{{>UXQSm-BU%oLo_5-DzM#g0sm%#fX@Cb3GH@HTuT`F@ZVgMi|"
    "EfKtpuNFY{PR&&bL~$3U)&1JS5uiE^9Xb~hhj4K1R){1=-B)!~Ys<1SQSZ_b!nWYFS7f_hj6{dut2mIhfqX-zbs`TJ^i1h7GNv#`NYx7U_gYwCnc(meR)ITP"
    "w>`f!@cY!7b@{whP0v|i>^Ud$qJ$VX%#x{+u1W`cHx6t!19MpSQkLN>32#?6fsF2isv2!)!rCUDa%<%-<2L}BbAExC5R*&k$RHf08y;3mRnq`?3M^i{tsLf8"
    "l*y$e=h`Il5Tr5HGsn(=?7R-f$~>P<c!M1Z7c8~lsL+#dl#x5Q{K)Fb8HC;*2@a$E-4kp&H8^J0s8v>Otc*E|PPw5T_eVI#<PR~^=cE1v%%ZS>zV?**z*|%W"
    "4X>HHg>67;u9<8^81}7@T2Os}|Msp_T{550R68#g#&a#z&O^Ng5KW`N$TkrxI}PndeS6@LY)TwdG5=Ah1kq`bc++MiRFs&Q8cDwhkzlM`^)whuem)_w-_e2H"
    "P2ZgZBF|n{_r>v3hx7lyJ}`-~NBb1@<j0Ol2Yl&k0d+pPix@F!IE5_hbySA8R<r0wx1#Y^RYurjTN>^4UoTEoW77ep$AL~+;35@b$Ql44@^uh{E(u!vm=Oz8"
    "9j*kxJ677-Kx_W`gVJNF)zywk>Dc13;~~C9d4Qk0`ewIB>Z(Ox8X<dpU*JQ2lpk27z?Fg*bG8mEmzG8w|EhoRfck=s#geaBdJV`&7VLtBW%^Wx3mYoD+88`p"
    "xsgKyhlcK%R+*NCk23I9oS0oR&*h}Awq{)sX|#~+b#0F1$FiYFeH~OzTk-*<WH3ihUzHQr2mzqj(TEqW9J+<euu<7aev@ohktuUSdxM1MG_@LA+g)wq6(E$3"
    "#x-us*JWKgU31b_eOZE4?Cdug8IUQE>jz1ErKtm8?NW>UwzgmEAs9QBDhb(z8kio=4(zOUMco+Yh7i!z>l(V(hRCLMg-U1QAeDiDu#M7TYQ8#!%l^__6NFfP"
    "=!QPBJHm6$F%}?~PAhF>&v#LVxrvr&xBhRv!qbW+V}WEg5^2NKyWe}+6)MEyKa`^1dm6Sz>yuMsNGnaJI%$%F#C-&6^gmr?y=5CEdK0gy4I?A;*<S)F0CJsJ"
    "g_vRHUOC0plu|+5juX+CoFxdkr^7Aid6#B^8l)O1#$q$I%vrANP)B_|zED-W#&E1BWn7m|=d0DtoXnhB`A75?Sq(sERS={26-sMt2;-U?{$738!Vpg&&6bR^"
    "v+1__6}R@T1*H=j8`ljl`D32jX>kh-4!l0~=kTJMY?h&=+relSP107KW7xP)`M>_1%gv~db+iHsQWXb{!)n`LR3u8ne>k=h+Rwi03Guj5L`TFXy0w~RV^JjV"
    "Nht-fALYr(*LQD!MGtIqAoSK}+v-cm0b5L>loSNoQUmL!R@HXo5Ku?R5EHEBw!XqJ3{SC9HuBJK6lnY?gwYh-QvRFbR&0%>6lAVi*=GJaXX-)#6eSU7eZa_9"
    "l;?|Bv5#>QaGu@Mvlp^#cw-hEDJ~`iI_w1^?kXn~qKUqOFuCgs&I!pWS(OiY0+;t1q;hu^oPEVl6Tr0hT(&`0aIm`bOKRM=E-VTVe}{43fcA0B33=%Uwa_ga"
    "2Xb>)C;q|DgB+7hhut6ikEN=zN0;c_$4Co^zY(2}P{$Fy(%<q%>N>{JEZjkK=m|57mS^<k36@<}7|u60!l)>14QE-KjLP6YiuHLlq1O*KN+CDZGp1wZcKmkH"
    "q;S5Mh~;J7^njdB1D7yqjCCh|I{a<9mc2n(pMBuEF7=9D(AyT1Ab3nR820k9shA3W9w3G$c>?=?uu?&1i`bmnrs|So!=tU|z&{Dn3NY?{w8eT0ff=K3H8c&U"
    "YTlQ8)0aala^L(}=cZuaTn}g-5|Cs$>j$J3I3)h(xAqEp^CB0(S91~cks_YUJ4^Z>Bz1H9MTfMglRu7Cjjx^@ZStI|VC@3|fo(q?eJ4@K|3>O=AW*I!Uxv%m"
    "mNfj9=?Lf89*iNpU`^JX_=Wk~$u-)1#6u;b=6>bv2>YSQj-0|K-^{e_O+Bx<n8Phs_Oaj><O#+1T`y7opgWa8)KX(_TcCgcMus}O!qFWE_Mi;EPIbFW-_5il"
    "m<neHclnXWWfwLM12;}j9Y_UR1_4@ud^*;cUUM622h(7X<?@{Ft7a+5sE8-@vk9*ef0iEXDh&EAE!7hl3p3*igUoYz*eKUW;UB!<{EDP7Uz+pQHftzIf`>Nf"
    "3Rp*QlVTJx6|B});{5;?E`_89TM~Ko%uO}pp?xnHSTVLYUbX0mU;;abOes_J%frSRMLKF|+<kgH4)2D_ecb`J^2aci;~~gv2o(Eg{7-;jNOwf91K6B6UJm<C"
    "Ag5?u+oi6seP`i_d?a~uO}JKC9ROl!N5a&0FW<OiQ0SxbXnMlwxM*D>aw(8oeya(#&kpa7iu>AtXW5byZFyEA#+JcD*s=Bv$KL3;gz6+@DGVYDhk7q~e3z>G"
    "Qm)3Pt&JTrFvbyPSmM~tqf*y_wu^;(hTAGg+s8k=N({=t!FbL%pe|x}HuYBfhc}K*RYpm7ajZvkfaA9E)w!yJ>q`#a`0#yIigEcz*TtzWJ!nNOUx~BN(#@BT"
    "W8NM-eQU;f(hTF|PdsC*7;+ta3dsNB-F&(`T87HkHbEOlPPG4xLn#_zkab#CBuaO8S{y;7J2LBk+uXmXc7tgX4@-IqEeng=9hOH0*kfF0kW#tW5|Uh+N3n=z"
    "ay|;KWTd-Js-s}1@Zk+9EX|0@g1M+YUTH2&hf5>3Ar9^oO<$A;Qp9ak(Oj&FYNaK*szfAKVI8U4=}f!ykaVunC$6fVQ{tOZy@9v?`7w%>Mpx*be~g^BU8Ch~"
    "M#A?U&DZxCKj~fPCI0c1k>lUBvRGXCa6bn@Hn2L+mbovz?j$aKc8Ne`v}1!-NK2R#hmo0cm*if!WsuHLp!Q(ymg;P@N2j>3ESRIkDEk<MUpeal=3TpHv3y^1"
    "@Okz*sJKopBt0A0B5N*dvCG~l;WGMPz>}M!B{=G}a4q&lJ0~o{!{?K=hsAi>S<MhBv%j9JW6OT7bzo?0_CNzY)~HmS$y1c>FAB;-lY6IumBJfbk_xtujCtdR"
    "YYqWS36=^TW_q0`GhR{}07fj6pC9TSTmO1cIil-l%cKv|Y~n@5^h+uG&P4+c73K1_7iND@RVd;pgK(gfpP)(|86w@-GYcAx=robt>`6>MC#|;n6NXoIr-+>z"
    "NjzeRC9}2jrUn<6Ak3m+`by<=+XT-URVcsRnzSFl_Sv8hdNg!(LL0o_Z+?Roj=*_c(e3q0W?GP=+RULeMfJ^OCFLm%8OFSA21Si5=DJC1DU-&8mysH4YLg2v"
    "2pgaJ_~NiNr7cQ7u!6-hW={?&d8IPTbOv769zoh<EWY7}QgCvvKWdwD8jm#n=_7Ngfu}b4(QD6JmoD1(Y48<=lC~@sa~==MhQXvuuqhYx%n)Xy{w!zdt^y%G"
    "v&N|@048F7VCgZm8>(Y^B$+b4X4jIu>YF3>Vx1;04+=c$sED<BZ24Lv^C)hrdSb+Hg~st}I1_5Pc<4}p?6-JKS~|7^P1<Llk2}!huC8MID@bBtJR_j|tM`}X"
    "esYpveGUbyJKJdxWcT+{!DV{TQ-^?ahVxpvNW!-yY+}}g$f{rZP_ALoFHi#&q_HhuYpVB6<)w4aR?81M>=0xamk=?GKnc>kS91{E51}3zQ-rTbcZZ3K8LLF?"
    "sw><FG%7;z`y2;p8vv|8@bO4j>HKzP!Bd9NoYc$*0||++@TV5!jqNDC)_N>S#Wa|NjlM3FybBk7M=oGI$&OO8uE%NFUQ%SG4Q$~VvP^3ZSvH*S!(DHzp`}W("
    "5~_F@dMhg}$-@$aGJR92F{aLNPcUkH8JnnqGqbIJqB0}pl=zm{?IH&e&A<B%k1p67O};T}cCdF=3=@*mrk@JkM+k)?%5Al0BYiF7NFv7~EbW#&Po#hmOEt=i"
    "t7+y}Usi`F`Du<C+Nvs+dcPJ9zQwM$637Pgz(7vb7~$>S4NZTLYTG}@Qrm*|kSc}x2OW2~rs3*$si<$G=mCq$xYy0FZ#Wb6CmyJ-L%Z8F{lS>VyBPbHFHe37"
    "hI`L}hmPkTk=#>aCS+p=!MX=n?IPF?#o9j#?v0xlIUEMvznsI%sTKg7drC}D0_Jw^1m0D~2zS<d?W?=K+<J(e3}a^#&94?d3jLF?4IV#Z+sZ#C_;Y<@aJ)P2"
    "^B5SZtjB)<E?F_X90BHgIMNu-LuW6DsiPiTJj1|OAdBY>&!l3JE{nKm#`+p&uaA33@1!J9zP;_|s456C6raxTxoQgRU3&Wr(e|701~pdFLJc}?NlyM#kMIq0"
    "EW2-6w!j<RO1Dj{6@yK|un7lsz^yEb->?l#3+<`RdETIVV<OW7jlpJXPb#Dgek{Q-0NH83Q3ef8DX?eHwKKn~%_1mq+$9VN5QGF|iEum{3piIZ9GS7M$ZG_{"
    "Kq{jlSbk;6=3=nm-Tvj>Fvk-|WK2;zo7``2Da??>^A-=WPpw3i!%FZT#oeSp6U>Y(MtG^QlIf_HI2++49kDED!p!?-SwlVcHNzYe5;b28sX+FKvB#A9q5^0W"
    "IrjVdG4pu9QP6NYQO-mBfHzuf^$*@N`VW5~;l6f<!a!kXx@O2+CUu^qq;9}G)p8_)VEzzt`(5h$Jea#pGQFVUY=HfzDdxQNN|xxCV_7uIG^H5RE3_^KDGsvR"
    "V9$C~lC-_{Xnet6tV9A8W)V_3lQ4v_ji3#dPhc)P%&?QT0rPO5lZUZ$LOKCiOqvz7Un{KB_}&k?=alM1v12ux*lUVP*|tznGtONyA$~+Pf0}gSGnwa%DrCy-"
    "9fuk`>9kPXXTNxL+R2MO&{<d0l8oTnrV!7w#qiVG0w}1cj&t~f{2~E&Jp0O&eFO4g!>@3k13)VuMH&F+Ns!+Y8*Hi3bvq1@+vPRNQ3~{UkP!=;CaIF9zI`Z^"
    "R1rXOyGw61gG;MUHvF9)Z$$5!(+8~=Ku#g;E-DK2%rEXFH5855w>J$ray2wvmIyJ(4cktyt}Q~A&O~guCe%X&I%K-rIceWNHF9>S%t;C*hWM`yU*w4ujsUw1"
    "jG-%8f*Sz$GlnxjPU_a3CiTPc$A(&=7&WS4VB=Q2YIO+Wjc;egnV=3lxz02@T!<kt4l?S#T<?w7N~hmrm4MYk<8F2KGNb&XW1>jk6pe_Kj@UR5@EWqK|7B1e"
    "Gx;_tLv*~;*=-7iPcp=N-LJv6YqSmR5DilL0kR#RCyXcV1p!rO!B=X1qRK>9#Hhti1KP#>M?{;ug6gj1HpKV>$cE^R2^{VHvYW<Od@@Hg<O=s~&mvBk(U0R!"
    "Iab?<V&sN3cCU8n);8_YADS_?#F3}l{ly=w6KZ!bj&xs}b0c0zv5>6D`-&>vB~}RzgZ`-tThI4W?_x#ZrTU!}4Gr4^{Ii&ozr^h!(|2+3i&~yTDn(ym-iJEF"
    "A;&CG-Z2(8&DGDGdbo~-C4w#a@uuA{vQ9$;WJ`a~-3v83bU@w+{@`fd?0|umw{{~oxF-<3rEMdia@K`z3Ndony!2I%vP<uS&Fo~BR>aAED3ak8YzY~?z|ma`"
    "LO4kqFV-&Uj@uMbUL61hAMmFs(*$ZyiPpDmI@ijH6f#WW;|%!$wlyw^2Ksp0cS`nU;FI`mOMXGSOHC_}aRuw8labB-fpBWSZ`-md<m&J=4K9Kk7FOK3PTo5d"
    "=XvOU$cCO(hoI1Py2`$z+Jl!iyaE&fWnYZ`73M#|mbjr@i^n*Vxzd>Lc+O4jv`7XHeF&m?-KJ<IES;;Lrbz+dbe+B?F&XF`g+?z2x&=jgo;oj&hWJEzA9cgd"
    "o{hpoE3<ZEwzej_q$i$(HQJHu=iDvnWCbfUyxa<Lo-lf4wl*sn5n_bdyN;S=k%R<A<?a^U8>k#XEezzfrEQ3j>R=`@IGAX=S1=y>$!qY@ezKto?#k}8Ip}W5"
    "ATW_g_Mfk=c}Dg)Fr26xwCoE}f`DaMR4<)f`zr&+T>eA;<WKaj*kTXNTkg7V_?I`f%59dd7aO4}@=)#?ir9X5Qz%4N*L$M?1%q<m)?qM7p6%mY6z_bk435Tk"
    "yvfXd-FyPmD>UryRLeO{c5^fMCE<JXj*g3CtO5wdyWaxEl}%>s?(Xq)kHHESUgerOX`L*L@OL~US4eNth+8lGG@AtGbeb)vu{ci^KxR6nN^_PmtCz>{uUE15"
    "YY_cFa`FLhbv(7$lcRm5yr%9=ijf^%MP__IGWve<VilkY-(<hd4Kx1HXIY`~_MY@m<yg@9fzWq2JN-oN&HqN=evP2H|6Vr#=Vf%-yuebQ*qSRyzzCSKzov}#"
    "uvl=`)Y9FRQi(meiw|K*h~30)g>P_t7eC#(X_YcD-`_pvul!z>>z{Wt_->|XxzJq_B9KddGDU&78QOGutmI#hH62Kghp|bBu3zM${GC)~?Uik3{rR;jx@US?"
    "%4Kwpet6jx4&KU?;1<m<p_Fn9B=9KwC1+>oqFq!>a)tGvcNO|fW7ty9SrMeNus)-d%L;%_A|RRvpQ}ZBEF8-D#t(Fl>^#gBRy}&AiNR$26AmkZw~=M70q8#x"
    "4&o-?=*-+o!5_%}57L`5h;w%7`}I+;BEXKWGut8z{h`?ZD1)UM8C1}}#gR_<H&rT1T`;fvhe8c(GgBj)84v%LkO!qYT4bwJ7X"
)


def initial_numbers(dimensions: int) -> list[tuple[int, int, list[int]]]:
    """(degree, inner coefficients of the polynomial, initial numbers) for dimensions 2, 3, ..."""
    whole = int.from_bytes(base64.b85decode(_PACKED), "big")
    at = whole.bit_length() - 1
    out: list[tuple[int, int, list[int]]] = []

    def take(bits: int) -> int:
        nonlocal at
        at -= bits
        return whole >> at & ((1 << bits) - 1)

    for degree, count in enumerate(DEGREES, 1):
        for _ in range(count):
            if len(out) == dimensions - 1:
                return out
            coefficients = take(degree - 1)
            out.append((degree, coefficients, [1, *(2 * take(k) + 1 for k in range(1, degree))]))
    return out
